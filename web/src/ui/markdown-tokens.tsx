/** Draws the tokens of Markdown as elements. HTML is text, images are not fetched. */
import type { Token, Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { readAddress } from "./address";
import { Code } from "./code";
import { CopyButton } from "./copy-button";
import { Icon } from "./icons";
import { Link } from "./link";
import { Formula } from "./math";
import type { MathToken } from "./markdown-blocks";
import { decode } from "./plain";
import { UI } from "./words";

const DEEPEST = 24;

/** The tokens one after the other. */
export function drawTokens(tokens: readonly Token[] | undefined, isDone: boolean, depth = 0): ReactNode {
  return tokens?.map((token, at) => <Fragment key={at}>{drawToken(token, isDone, depth)}</Fragment>);
}

function drawToken(token: Token, isDone: boolean, depth: number): ReactNode {
  if (depth > DEEPEST) return token.raw;
  const inner = () => drawTokens("tokens" in token ? token.tokens : undefined, isDone, depth + 1);
  switch (token.type) {
    case "space":
    case "def": return null;
    case "paragraph": return <p dir="auto">{inner()}</p>;
    case "heading": return drawHeading(token as Tokens.Heading, inner());
    case "text": return "tokens" in token && token.tokens ? inner() : decode((token as Tokens.Text).text);
    case "escape": return (token as Tokens.Escape).text;
    case "strong": return <strong>{inner()}</strong>;
    case "em": return <em>{inner()}</em>;
    case "del": return <del>{inner()}</del>;
    case "br": return <br />;
    case "hr": return <hr />;
    case "codespan": return <code className="md-code">{(token as Tokens.Codespan).text}</code>;
    case "code": return <Code text={(token as Tokens.Code).text} language={languageOf(token as Tokens.Code)} isComplete={isDone} />;
    case "blockquote": return <blockquote dir="auto">{inner()}</blockquote>;
    case "list": return drawList(token as Tokens.List, isDone, depth);
    case "checkbox": return <input type="checkbox" className="md-task" aria-label={UI.task} disabled checked={(token as Tokens.Checkbox).checked} readOnly />;
    case "table": return drawTable(token as Tokens.Table, isDone, depth);
    case "link": return drawLink(token as Tokens.Link, inner());
    case "image": return drawImage(token as Tokens.Image);
    case "math": return <Formula text={(token as unknown as MathToken).text} display={(token as unknown as MathToken).display} />;
    case "html": return (token as Tokens.HTML).block ? <p className="md-plain" dir="auto">{token.raw.trimEnd()}</p> : token.raw;
    default: return token.raw;
  }
}

/** The first word after a fence. */
function languageOf(token: Tokens.Code): string {
  return (token.lang ?? "").trim().split(/\s/, 1)[0]?.slice(0, 30) ?? "";
}

/** The page has its own titles, so those of an answer begin two levels lower. */
function drawHeading(token: Tokens.Heading, children: ReactNode): ReactNode {
  const Level = `h${Math.min(token.depth + 2, 6)}` as "h3" | "h4" | "h5" | "h6";
  return <Level className={`md-heading md-heading-${Math.min(token.depth, 4)}`} dir="auto">{children}</Level>;
}

/** "rtl" for a text whose first letter is one. `dir="auto"` of a list or a table would not look into its parts. */
function directionOf(text: string): "rtl" | undefined {
  const [first = ""] = /\p{L}/u.exec(text) ?? [];
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(first) ? "rtl" : undefined;
}

function drawList(token: Tokens.List, isDone: boolean, depth: number): ReactNode {
  const items = token.items.map((item, at) => (
    <li key={at} className={item.task ? "md-task-item" : undefined} dir="auto">
      {drawTokens(item.tokens, isDone, depth + 1)}
    </li>
  ));
  const dir = directionOf(token.raw);
  return token.ordered ? <ol dir={dir} start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul dir={dir}>{items}</ul>;
}

function drawTable(token: Tokens.Table, isDone: boolean, depth: number): ReactNode {
  const cell = (Cell: "th" | "td", content: Tokens.TableCell, at: number) => (
    <Cell key={at} dir="auto" scope={Cell === "th" ? "col" : undefined} style={content.align ? { textAlign: content.align } : undefined}>
      {drawTokens(content.tokens, isDone, depth + 1)}
    </Cell>
  );
  return (
    <div className="md-table">
      <div className="md-table-scroll" role="group" aria-label={UI.table} tabIndex={0}>
        <table dir={directionOf(token.raw)}>
          <thead><tr>{token.header.map((content, at) => cell(content.text ? "th" : "td", content, at))}</tr></thead>
          <tbody>{token.rows.map((row, at) => <tr key={at}>{row.map((content, place) => cell("td", content, place))}</tr>)}</tbody>
        </table>
      </div>
      <div className="md-table-copy"><CopyButton text={() => tableText(token)} label={UI.copyTable} /></div>
    </div>
  );
}

/** A table as a spreadsheet takes it. */
export function tableText(token: Tokens.Table): string {
  const rows = [token.header, ...token.rows];
  return rows.map((row) => row.map((cell) => words(cell.tokens)).join("\t")).join("\n");
}

/** The bare words of tokens. */
export function words(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if ("tokens" in token && token.tokens) return words(token.tokens);
      if (token.type === "text") return decode((token as Tokens.Text).text);
      if (token.type === "br") return " ";
      return "text" in token && typeof token.text === "string" && token.type !== "html" ? token.text : token.raw;
    })
    .join("");
}

function drawLink(token: Tokens.Link, children: ReactNode): ReactNode {
  const address = readAddress(decode(token.href));
  return address ? <Link address={address} words={words(token.tokens)}>{children}</Link> : token.raw;
}

function drawImage(token: Tokens.Image): ReactNode {
  const address = readAddress(decode(token.href));
  const text = UI.image(decode(token.text));
  return (
    <span className="md-image">
      <Icon name="file" />
      {address ? <Link address={address} words={text}>{text}</Link> : text}
    </span>
  );
}

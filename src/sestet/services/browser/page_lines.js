// Turns tokens into lines: joins inline text, sets controls in brackets, and keeps one row of the screen on one line.

const LONGEST_JOINED = 160;
const LONGEST_ROW = 400;

// Lines of one container: the page, a dialog, or the cell of a table.
class Lines {
  constructor() {
    this.done = [];
    this.text = "";
    this.mark = "";
    this.broken = false;
    this.box = null;
    this.plain = false;
  }

  // Add text to the current line, or begin a new one after a break, unless both stand in one row on the screen.
  add(text, box, isControl) {
    if (this.broken && this.text.trim()) {
      if (!inOneRow(this.box, box) || this.text.length > LONGEST_ROW) this.flush();
      else this.text += " ";
    }
    this.broken = false;
    this.text += text;
    if (text.trim()) {
      if (!isControl) this.plain = true;
      this.box = box ?? this.box;
    }
  }

  flush() {
    const text = this.text.replace(/[^\S\n]+/g, " ").trim();
    if (text) this.push(this.mark, text);
    this.text = "";
    this.mark = "";
    this.broken = false;
    this.plain = false;
    this.box = null;
  }

  begin(mark) {
    this.flush();
    this.mark = mark;
  }

  // Short controls follow each other on one line, as in a menu.
  push(mark, text) {
    const last = this.done.at(-1);
    const short = !this.plain && text.length <= 50 && !mark.startsWith("#");
    if (short && last?.short && last.mark === mark && last.text.length + text.length < LONGEST_JOINED) last.text += " " + text;
    else this.done.push({ mark, text, short });
  }

  raw(text) {
    this.flush();
    this.done.push({ mark: "", text, short: false });
  }

  finish() {
    this.flush();
    return this.done;
  }
}

// Both boxes are one line high and stand beside each other.
function inOneRow(a, b) {
  if (!a || !b) return false;
  const high = Math.max(a.height, b.height);
  const low = Math.min(a.height, b.height);
  if (high > 48 || high > 2.2 * low) return false;
  const shared = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return shared > low / 2 && (b.left >= a.right - 2 || b.right <= a.left + 2);
}

// It says something: signs alone, such as an arrow or a cross, need the name that the page gives them.
const isWord = (text) => /[\p{L}\p{N}]/u.test(text);

class LineMaker {
  constructor(tokens, refFor) {
    this.tokens = tokens;
    this.refFor = refFor;
    this.page = new Lines();
    this.stack = [this.page];
    this.captures = [];
    this.dialogs = [];
    this.rows = [];
    this.frames = [];
    this.labels = visibleLabels(tokens);
    this.last = null;
  }

  // The control whose name is being collected; null between controls.
  get naming() {
    const capture = this.captures.at(-1);
    return capture && !capture.split ? capture : null;
  }

  get lines() {
    return this.stack.at(-1);
  }

  make() {
    for (let at = 0; at < this.tokens.length; at++) this[this.tokens[at].kind](this.tokens[at], at);
    const all = [...this.dialogs.flat(), ...this.page.finish()].map(({ mark, text }) => mark + text);
    return all.flatMap((line) => line.split("\n")).filter((line) => line.trim());
  }

  say(text, box, isControl = false) {
    this.lines.add(text, box, isControl);
  }

  text(token) {
    if (!token.text || (token.label && this.labels.get(token.label)?.used)) return;
    const capture = this.naming;
    const text = clean(token.text);
    if (capture) {
      capture.text += text;
      if (text.trim()) capture.box ??= token.box;
    }
    else if (token.kept) this.say(text.replace(/[^\S\n]+$/gm, ""), token.box);
    else this.say(text.replace(/\s+/g, " "), token.box);
  }

  break() {
    const capture = this.naming;
    if (capture) capture.text += " ";
    else this.lines.broken = true;
  }

  mark(token) {
    const capture = this.naming;
    if (!capture || !capture.text.trim()) this.lines.begin(token.mark);
  }

  endmark() {
    if (!this.naming) this.lines.flush();
  }

  open(token, at) {
    this.split();
    this.captures.push({ token, text: "", images: [], box: null, at });
  }

  close(token, at) {
    const capture = this.captures.pop();
    if (!capture.split) this.control(capture, at);
  }

  // A control inside a control: the outer one is named by the text before the inner one.
  split() {
    const capture = this.captures.at(-1);
    if (!capture) return;
    this.captures.pop();
    this.split();
    if (!capture.split) this.control(capture, -1);
    this.captures.push({ ...capture, split: true, text: "" });
  }

  control({ token, text, images, box }, at) {
    const seen = squeeze(text);
    const { element, role } = token;
    if (token.role === "clickable" && (at < 0 || !token.shown || seen.length > 200)) return this.say(text, box ?? token.box);
    if (!seen && !token.shown) return;
    const name = (isWord(seen) ? seen : unseenName(element)) || seen || squeeze(images.join(" "));
    if (!name && role === "clickable") return;
    const address = role === "link" ? attribute(element, "href") : null;
    if (!seen && role === "link" && (this.last === address || this.nextAddress(at) === address)) return;
    this.last = address;
    const spaced = (at) => (/\s/.test(text.at(at) ?? "") ? " " : "");
    this.say(spaced(0), null, true);
    this.put(element, role, name, box ?? token.box);
    if (!this.lines.broken) this.say(spaced(-1), null, true);
  }

  nextAddress(at) {
    for (let next = at + 1; at >= 0 && next < Math.min(this.tokens.length, at + 30); next++)
      if (this.tokens[next].kind === "open") return attribute(this.tokens[next].element, "href");
    return undefined;
  }

  put(element, role, name, box, mute = false) {
    const host = role === "link" ? foreignHost(element) : "";
    const ref = this.refFor(element, role, name, host);
    if (ref === null) return;
    const state = stateOf(element, role, mute);
    const words = [ref, role === "link" && (name || host) ? "" : role, name, state, host && `-> ${host}`].filter(Boolean).join(" ");
    this.say(`[${words}]`, box, true);
  }

  field(token) {
    if (!token.shown) return;
    this.split();
    const seen = squeeze(this.labels.get(token.element)?.text ?? "");
    this.put(token.element, token.role, seen || fieldName(token.element, token.mute), token.box, token.mute);
  }

  image(token, at) {
    const capture = this.naming;
    if (capture) capture.images.push(token.name);
    else if (!this.isCaption(token.name, at)) this.say(` (image: ${token.name}) `, token.box);
  }

  // Whether the texts around an image say the same as its name.
  isCaption(name, at) {
    const around = this.tokens.slice(Math.max(0, at - 12), at + 12);
    return around.some((token) => token.kind === "text" && !token.blank && squeeze(token.text) === name);
  }

  frame(token) {
    this.frames.push(token.element);
    this.lines.raw(`\u0001${this.frames.length - 1}`);
  }

  dialog(token) {
    this.stack.push(new Lines());
    this.lines.raw(`dialog${token.name ? ` ${token.name}` : ""}:`);
  }

  enddialog() {
    const lines = this.stack.pop().finish();
    if (lines.length > 1) this.dialogs.push([...lines, { mark: "", text: "end of dialog" }]);
  }

  row(token) {
    this.rows.push(this.naming ? null : { cells: [], heads: token.heads });
    if (this.naming) this.break();
    else this.lines.flush();
  }

  cell() {
    if (this.naming || !this.rows.at(-1)) return this.break();
    this.stack.push(new Lines());
    this.rows.at(-1).open = true;
  }

  endcell() {
    if (this.naming || !this.rows.at(-1)?.open) return this.break();
    this.rows.at(-1).open = false;
    this.rows.at(-1).cells.push(this.stack.pop().finish());
  }

  // A row of a table is one line, unless a cell holds several lines: then the table is only there for the layout.
  endrow() {
    const row = this.rows.pop();
    if (!row) return this.break();
    const { cells, heads } = row;
    const simple = cells.every((cell) => cell.length <= 1 && !cell[0]?.mark && !cell[0]?.text.startsWith("\u0001"));
    if (!simple) return void cells.flat().forEach((line) => this.lines.done.push(line));
    const texts = cells.map((cell) => cell[0]?.text.replace(/\n+/g, " ") ?? "");
    while (texts.length && !texts.at(-1)) texts.pop();
    while (texts.length && !texts[0] && !heads) texts.shift();
    if (texts.length) this.lines.raw(texts.join(" | "));
  }
}

// The text of each label that can be seen, for the field that it names. It is `used` when the field stands in the
// reading, which then has the text already. A label with a link or a button in it stays as it is.
function visibleLabels(tokens) {
  const labels = new Map();
  for (const token of tokens) {
    if (token.kind === "text" && token.label && token.text) {
      const label = labels.get(token.label) ?? { text: "", used: false, shown: false };
      label.text += token.text;
      labels.set(token.label, label);
    }
  }
  for (const token of tokens) {
    const label = token.kind === "field" && token.shown && labels.get(token.element);
    if (label && label.text.length <= 300) label.used = true;
  }
  for (const token of tokens) {
    const label = token.kind === "open" && closest(token.element, "label")?.control;
    if (label && labels.has(label)) labels.get(label).used = false;
  }
  return labels;
}

// Walks the page as it is drawn, and collects tokens of what a person can see: texts, controls, breaks.

const SKIPPED = new Set([
  "script", "style", "noscript", "template", "head", "meta", "link", "title", "desc", "canvas", "audio", "video",
  "object", "embed", "datalist", "param", "source", "track", "noframes", "rp",
]);
const DEEPEST = 800;
const LEAST_IMAGE = 24;
// Milliseconds for questions about boxes that CSS draws.
const LONGEST_ASKING = 300;

class Walk {
  constructor(limits) {
    this.tokens = [];
    this.canvas = new Canvas();
    this.hosts = [];
    this.number = 0;
    this.nodesLeft = limits.nodes;
    this.lettersLeft = limits.letters;
    this.end = performance.now() + limits.milliseconds;
    this.omitted = 0;
    this.asking = 0;
    this.plain = new Set();
    this.range = document.createRange();
  }

  run() {
    const root = documentElement();
    if (!root) return this;
    const all = scrollableArea();
    this.element(root, {
      clip: all, absolute: all, fixed: windowArea(), opacity: 1, display: "block", cursor: "auto",
      order: [], context: [], depth: 0, steady: false, label: null, list: null, holder: root,
    });
    this.settle();
    return this;
  }

  isSpent() {
    if (this.nodesLeft > 0 && this.lettersLeft > 0 && (this.nodesLeft % 64 || performance.now() < this.end)) return false;
    this.nodesLeft = 0;
    return true;
  }

  node(node, inside) {
    this.nodesLeft--;
    if (this.isSpent()) this.omitted++;
    else if (kindOf(node) === TEXT) this.text(node, inside);
    else if (kindOf(node) === ELEMENT) this.element(node, inside);
  }

  element(element, above) {
    const tag = localNameOf(element);
    if (SKIPPED.has(tag)) return;
    if (above.depth > DEEPEST) return void this.omitted++;
    const style = getComputedStyle(element);
    if (style.display === "none" || hasAttribute(element, "inert")) return;
    const inside = this.enter(element, style, above);
    if (!inside) return;
    if (tag === "br") return void this.tokens.push({ kind: "break" });
    if (tag === "iframe" || tag === "frame") return this.frame(element, inside);
    if (tag === "img" || tag === "svg" || attribute(element, "role") === "img") this.image(element, inside);
    const after = this.opening(element, tag, style, inside, above);
    this.generated(element, "::before", inside);
    if (!inside.leaf) this.children(element, tag, inside);
    this.generated(element, "::after", inside);
    for (const token of after.reverse()) this.tokens.push(token);
  }

  // The breaks, marks and controls before the children of an element; returns those after them.
  opening(element, tag, style, inside, above) {
    const after = [];
    const put = (before, behind) => (this.tokens.push(before), after.push(behind));
    const told = attribute(element, "role");
    if ((told === "dialog" || told === "alertdialog" || tag === "dialog") && this.isShown(element, inside))
      put({ kind: "dialog", name: unseenName(element) }, { kind: "enddialog" });
    if (style.display === "table-row") put({ kind: "row", heads: Boolean(findAll(element, "th").length) }, { kind: "endrow" });
    else if (style.display === "table-cell") put({ kind: "cell" }, { kind: "endcell" });
    else if (!style.display.startsWith("inline") && style.display !== "contents" && !style.display.startsWith("ruby"))
      put({ kind: "break" }, { kind: "break" });
    const level = /^h[1-6]$/.test(tag) ? +tag[1] : told === "heading" ? +(attribute(element, "aria-level") ?? 2) || 2 : 0;
    if (level) put({ kind: "mark", mark: "#".repeat(Math.min(level, 6)) + " " }, { kind: "endmark" });
    else if (style.display === "list-item" && tag !== "summary" && style.listStyleType !== "none")
      put({ kind: "mark", mark: this.bullet(inside, style) }, { kind: "endmark" });
    this.control(element, tag, style, inside, above, put);
    return after;
  }

  control(element, tag, style, inside, above, put) {
    if (tag === "label" && element.control) {
      inside.label = element.control;
      if (!isDrawn(element.control) && this.isShown(element, inside)) this.field(element.control, inside, element);
    }
    const role = roleOf(element);
    if (isField(element)) {
      inside.leaf = true;
      if (role && this.isShown(element, inside) && isDrawn(element)) this.field(element, inside);
    } else if (role === "textbox" || role === "searchbox" || role === "combobox" || role === "slider" || role === "spinbutton") {
      if (this.isShown(element, inside)) this.field(element, inside);
    } else if (role) {
      put({ kind: "open", element, role, ...this.spot(element, inside) }, { kind: "close" });
    } else if (!inside.label && tag !== "html" && tag !== "body" && isClickable(element, style, above.cursor)) {
      put({ kind: "open", element, role: "clickable", ...this.spot(element, inside) }, { kind: "close" });
    }
  }

  bullet(inside, style) {
    if (/decimal|latin|roman|alpha/.test(style.listStyleType) && inside.list) return `${++inside.list.count}. `;
    return "- ";
  }

  children(element, tag, inside) {
    const list = tag === "ol" ? { count: (parseInt(attribute(element, "start")) || 1) - 1 } : tag === "ul" ? null : inside.list;
    const within = { ...inside, list, depth: inside.depth + 1 };
    if (tag === "details" && !hasAttribute(element, "open")) {
      const summary = childrenOf(element).find((child) => kindOf(child) === ELEMENT && localNameOf(child) === "summary");
      if (summary) this.node(summary, within);
      return;
    }
    const children = childrenOf(element);
    if (mayHideRoot(element, tag, children)) this.hosts.push(element);
    for (const child of children) this.node(child, within);
  }

  // What the inside of an element inherits; null if nothing in it can be seen.
  enter(element, style, above) {
    const opacity = above.opacity * style.opacity;
    if (opacity < LEAST_OPACITY || isFilteredAway(style) || isTurnedAway(element, style)) return null;
    if (style.contentVisibility === "hidden") return null;
    const number = ++this.number;
    const place = placeOf(style, above, number);
    let clip = style.position === "absolute" ? above.absolute : style.position === "fixed" ? above.fixed : above.clip;
    // Nobody scrolls sideways to find a box that was moved there.
    const moved = style.position === "absolute" || style.transform !== "none" || style.translate !== "none";
    if (moved) clip = { ...clip, right: Math.min(clip.right, this.canvas.width) };
    const shape = shapeOf(element, style);
    if (shape) clip = cut(clip, shape);
    const steady = above.steady || style.position === "fixed" || style.position === "sticky";
    const own = place.order === above.order ? null : place.order;
    this.paint(element, style, { clip, own, above, number, steady, opacity });
    const content = clipOfChildren(element, style, clip);
    const framed = style.position !== "static" || style.transform !== "none";
    return {
      clip: content,
      absolute: framed ? content : shape ? cut(above.absolute, shape) : above.absolute,
      fixed: style.transform !== "none" || style.filter !== "none" ? content : shape ? cut(above.fixed, shape) : above.fixed,
      opacity, steady, number, box: null, order: place.order, context: place.context, own: clip,
      display: style.display, cursor: style.cursor, depth: above.depth, label: above.label, list: above.list,
      visible: style.visibility === "visible", style, leaf: false, holder: framed ? element : above.holder,
    };
  }

  paint(element, style, { clip, own, above, number, steady, opacity }) {
    const plain = style.backgroundColor === "rgba(0, 0, 0, 0)" && style.backgroundImage === "none";
    const picture = element instanceof HTMLImageElement || element instanceof HTMLVideoElement || element instanceof SVGSVGElement;
    if ((plain && !picture) || style.visibility !== "visible") return;
    // The background of the page lies under everything, whatever its z-index.
    if (element === documentElement() || element === bodyOf())
      return this.canvas.add(element, style, EVERYWHERE, { clip: EVERYWHERE, order: [-Infinity, number], steady: false, opacity });
    const inline = style.display === "inline" || picture;
    const order = own ? [...own, -Infinity, number] : [...above.order, inline ? LINES : BLOCKS, number];
    this.canvas.add(element, style, boxOf(element), { clip, order, steady, opacity });
  }

  // A box that CSS draws before or after the children. Its text is not read, but it may cover or colour theirs.
  generated(element, which, inside) {
    // Chromium matches all rules of the page for each question. When that took long, elements alike are not asked again.
    const alike = `${which} ${localNameOf(element)} ${attribute(element, "class") ?? ""}`;
    if (this.asking > LONGEST_ASKING && (this.plain.has(alike) || this.asking > 4 * LONGEST_ASKING)) return;
    const began = performance.now();
    const style = getComputedStyle(element, which);
    const missing = style.content === "none" || style.content === "normal" || style.display === "none";
    this.asking += performance.now() - began;
    if (missing) return void this.plain.add(alike);
    const fixed = style.position === "fixed";
    if ((!fixed && style.position !== "absolute") || style.visibility !== "visible") return;
    const { left, top } = fixed ? windowArea() : boxOf(inside.holder);
    const within = fixed ? { clientLeft: 0, clientTop: 0 } : inside.holder;
    const x = left + within.clientLeft + parseFloat(style.left);
    const y = top + within.clientTop + parseFloat(style.top);
    const box = { left: x, top: y, right: x + parseFloat(style.width), bottom: y + parseFloat(style.height) };
    const { order } = placeOf(style, inside, ++this.number);
    const opacity = inside.opacity * style.opacity;
    const clip = fixed ? inside.fixed : inside.absolute;
    this.canvas.add(element, style, box, { clip, order: [...order, -Infinity, this.number], steady: inside.steady || fixed, opacity });
  }

  spot(element, inside) {
    const box = boxOf(element);
    return { box, clip: inside.own, order: [...inside.order, LINES, inside.number], shown: this.isShown(element, inside) };
  }

  // The element has an area inside what can be seen.
  isShown(element, inside) {
    return inside.visible && [...boxesOf(element)].some((box) => areaOf(cut(box, inside.own)) >= 16);
  }

  // `drawn` is what a person sees of it: its label, if the field itself is not drawn.
  field(element, inside, drawn = element) {
    const style = getComputedStyle(element);
    const color = colorOf(style.webkitTextFillColor) ?? colorOf(style.color);
    const mute = parseFloat(style.fontSize) < LEAST_LETTER || color?.alpha < LEAST_OPACITY || parseFloat(style.textIndent) < -99;
    const role = roleOf(element);
    this.tokens.push({ kind: "field", element, drawn, role, ...this.spot(drawn, inside), shown: true, color, mute });
    if (!isField(element) && !inside.label) inside.leaf = false;
  }

  image(element, inside) {
    inside.leaf = localNameOf(element) === "img";
    const box = boxOf(element);
    if (!this.isShown(element, inside) || attribute(element, "aria-hidden") === "true") return;
    const broken = element instanceof HTMLImageElement && !element.naturalWidth;
    if (!broken && (box.width < LEAST_IMAGE || box.height < LEAST_IMAGE)) return;
    const name = localNameOf(element) === "img" ? squeeze(attribute(element, "alt") ?? "") : squeeze(attribute(element, "aria-label") ?? "");
    if (name && name.length <= LONGEST_HIDDEN_NAME) this.tokens.push({ kind: "image", name, box });
  }

  frame(element, inside) {
    const box = boxOf(element);
    if (this.isShown(element, inside) && box.width >= 20 && box.height >= 20) this.tokens.push({ kind: "frame", element });
  }

  text(node, inside) {
    const raw = textOf(node);
    const { style } = inside;
    const kept = style.whiteSpace.startsWith("pre") || style.whiteSpaceCollapse === "preserve";
    if (!/\S/.test(raw)) return void this.tokens.push({ kind: "text", text: kept ? raw : " ", kept, blank: true });
    if (!inside.visible || parseFloat(style.fontSize) < LEAST_LETTER) return;
    const drawing = parentNodeOf(node) instanceof SVGElement;
    if (drawing && !closest(parentNodeOf(node), "text, foreignObject")) return;
    const color = colorOf(style.webkitTextFillColor) ?? colorOf(style.color);
    const filled = style.backgroundClip === "text";
    if (color && color.alpha * inside.opacity < LEAST_OPACITY && !filled) return;
    this.range.selectNodeContents(node);
    const box = this.range.getBoundingClientRect();
    if (areaOf(cut(box, inside.clip)) <= 0 || isTiny(box, raw, style)) return;
    const token = { kind: "text", text: raw, kept, node, box, clip: inside.clip, label: inside.label };
    if (!holds(inside.clip, box)) token.text = this.wordsIn(node, (word) => mostlyIn(word, inside.clip));
    if (!/\S/.test(token.text)) return;
    this.lettersLeft -= token.text.length;
    token.edges = [...colorsIn(style.textShadow), ...(style.webkitTextStrokeWidth === "0px" ? [] : colorsIn(style.webkitTextStrokeColor))];
    token.order = [...inside.order, LINES, ++this.number];
    token.color = filled || drawing ? null : color && { ...color, alpha: color.alpha * inside.opacity };
    this.tokens.push(token);
  }

  // The words of a text for whose boxes the test is true.
  wordsIn(node, test) {
    const kept = [];
    let checks = 3000;
    for (const word of textOf(node).matchAll(/\S+/g)) {
      if (!checks--) break;
      this.range.setStart(node, word.index);
      this.range.setEnd(node, word.index + word[0].length);
      if (test(this.range.getBoundingClientRect())) kept.push(word[0]);
    }
    return ` ${kept.join(" ")} `;
  }

  // Now that everything painted is known: drop what is covered, or has the colour of its background.
  settle() {
    for (const token of this.tokens) {
      if (!token.box || !token.order) continue;
      // What was not checked is not shown.
      if (performance.now() > this.end + 1000) {
        this.omitted++;
        Object.assign(token, { text: "", shown: false });
        continue;
      }
      const shown = cut(token.box, token.clip);
      const x = (shown.left + shown.right) / 2;
      const y = (shown.top + shown.bottom) / 2;
      const hidden = (px, py) => this.canvas.isCovered(px, py, token.order, token.drawn ?? token.element);
      const width = shown.right - shown.left;
      const points = [x, shown.left + width * 0.1, shown.right - width * 0.1].map((px) => hidden(px, y));
      const blends = token.color && this.canvas.blends(x, y, token.order, token);
      if (token.kind === "field") token.mute ||= blends;
      if (token.kind !== "text") token.shown &&= !points.every(Boolean);
      else if (blends) token.text = "";
      else if (points.every(Boolean)) token.text = "";
      else if (points.some(Boolean))
        token.text = this.wordsIn(token.node, (word) => mostlyIn(word, token.clip) && !hidden((word.left + word.right) / 2, (word.top + word.bottom) / 2));
    }
  }
}

// Letters that are drawn too small, or on top of each other.
function isTiny(box, raw, style) {
  if (box.height < 3 || box.width < 1) return true;
  const letters = raw.trim().length;
  const oneLine = box.height < 2 * parseFloat(style.fontSize) + 4;
  return letters > 2 && oneLine && box.width / letters < 0.8 && style.writingMode.startsWith("horizontal");
}

// A field that is drawn itself, and not by its label.
function isDrawn(element) {
  if (!isRendered(element)) return false;
  const box = boxOf(element);
  return box.width >= 4 && box.height >= 4 && areaOf(cut(box, scrollableArea())) >= 16;
}

const HOST_TAGS = new Set([
  "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main", "nav", "p", "section", "span",
]);

// The element may have a closed shadow root: it is higher than its children.
function mayHideRoot(element, tag, children) {
  if (shadowOf(element) || examined.has(element)) return false;
  if (tag.includes("-")) return true;
  if (!HOST_TAGS.has(tag) || children.length > 12) return false;
  const box = boxOf(element);
  return box.width >= 20 && box.height - heightOf(children) >= 8;
}

// The height that nodes take together.
function heightOf(nodes) {
  const range = document.createRange();
  let top = Infinity;
  let bottom = -Infinity;
  for (const node of nodes) {
    if (kindOf(node) !== ELEMENT && kindOf(node) !== TEXT) continue;
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (!box.height) continue;
    top = Math.min(top, box.top);
    bottom = Math.max(bottom, box.bottom);
  }
  return Math.max(0, bottom - top);
}
const examined = new WeakSet();

// Which part of the page can be seen at all: boxes that cut their content off, and how far the page scrolls.

const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 };
// The least opacity, and the least size of a letter in pixels, that count as visible.
const LEAST_OPACITY = 0.1;
const LEAST_LETTER = 4;

const cut = (a, b) => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
const areaOf = (box) => Math.max(0, box.right - box.left) * Math.max(0, box.bottom - box.top);
const holds = (outer, inner) =>
  inner.left >= outer.left - 1 && inner.top >= outer.top - 1 && inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1;

// At least half of the box lies in the clip.
const mostlyIn = (box, clip) => areaOf(box) > 0 && areaOf(cut(box, clip)) * 2 >= areaOf(box);

// The overflow of the window is that of <html>, or of <body> if <html> has none.
function windowOverflow() {
  const root = getComputedStyle(documentElement());
  if (root.overflowX !== "visible" || root.overflowY !== "visible") return root;
  const body = bodyOf();
  return body ? getComputedStyle(body) : root;
}

// The part of the page that a person can scroll to, in coordinates of the window.
function scrollableArea() {
  const root = readScroller(document) ?? documentElement();
  const overflow = windowOverflow();
  const leftwards = getComputedStyle(documentElement()).direction === "rtl";
  const left = leftwards ? root.clientWidth - scrollX - root.scrollWidth : -scrollX;
  const stays = (value) => value === "hidden" || value === "clip";
  return {
    left: stays(overflow.overflowX) ? 0 : left,
    right: stays(overflow.overflowX) ? innerWidth : left + root.scrollWidth,
    top: stays(overflow.overflowY) ? 0 : -scrollY,
    bottom: stays(overflow.overflowY) ? innerHeight : -scrollY + root.scrollHeight,
  };
}

const windowArea = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });

// The content of a box with scroll bars, wherever it is scrolled to.
function scrolledArea(element, box) {
  const leftwards = getComputedStyle(element).direction === "rtl";
  const left = leftwards
    ? box.right - element.scrollLeft - element.scrollWidth
    : box.left + element.clientLeft - element.scrollLeft;
  const top = box.top + element.clientTop - element.scrollTop;
  return { left, top, right: left + element.scrollWidth + 1, bottom: top + element.scrollHeight + 1 };
}

const CLIPS = new Set(["hidden", "clip", "auto", "scroll"]);
const SCROLLS = new Set(["auto", "scroll"]);

// What the children of this element may still show. `clip` is what the element itself may show.
function clipOfChildren(element, style, clip) {
  const x = CLIPS.has(style.overflowX);
  const y = CLIPS.has(style.overflowY);
  if ((!x && !y) || style.display === "inline" || element === bodyOf() || element === documentElement()) return clip;
  const box = boxOf(element);
  const shown = cut(clip, box);
  const scrolls =
    (SCROLLS.has(style.overflowX) && element.scrollWidth > element.clientWidth + 1) ||
    (SCROLLS.has(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
  // A person scrolls only a box that has some size.
  if (scrolls && shown.right - shown.left > 20 && shown.bottom - shown.top > 10) {
    const all = scrolledArea(element, box);
    const sideways = SCROLLS.has(style.overflowX);
    const down = SCROLLS.has(style.overflowY);
    return {
      left: sideways ? all.left : shown.left,
      right: sideways ? all.right : shown.right,
      top: down ? all.top : shown.top,
      bottom: down ? all.bottom : shown.bottom,
    };
  }
  return {
    left: x ? shown.left : clip.left,
    right: x ? shown.right : clip.right,
    top: y ? shown.top : clip.top,
    bottom: y ? shown.bottom : clip.bottom,
  };
}

const lengthOf = (text, whole) => (text.endsWith("%") ? (parseFloat(text) / 100) * whole : parseFloat(text) || 0);

// The box that `clip` and `clip-path` leave of an element; null: neither cuts anything that we can tell.
function shapeOf(element, style) {
  if (style.clip && style.clip !== "auto" && (style.position === "absolute" || style.position === "fixed")) {
    const box = boxOf(element);
    const [top, right, bottom, left] = style.clip.replace(/^rect\(|\)$/g, "").split(/[ ,]+/);
    return {
      left: box.left + lengthOf(left, box.width),
      top: box.top + lengthOf(top, box.height),
      right: right === "auto" ? box.right : box.left + lengthOf(right, box.width),
      bottom: bottom === "auto" ? box.bottom : box.top + lengthOf(bottom, box.height),
    };
  }
  const path = style.clipPath;
  if (!path || path === "none") return null;
  const box = boxOf(element);
  const [, name, inside] = /^([a-z-]+)\((.*)\)/.exec(path) ?? [];
  if (name === "inset") {
    const [top, right = top, bottom = top, left = right] = inside.split(/ round /)[0].trim().split(/\s+/);
    return {
      left: box.left + lengthOf(left, box.width),
      top: box.top + lengthOf(top, box.height),
      right: box.right - lengthOf(right, box.width),
      bottom: box.bottom - lengthOf(bottom, box.height),
    };
  }
  if (name === "polygon") {
    const points = inside.replace(/^(nonzero|evenodd),\s*/, "").split(",").map((point) => point.trim().split(/\s+/));
    const across = points.map(([x]) => box.left + lengthOf(x, box.width));
    const down = points.map(([, y]) => box.top + lengthOf(y ?? "0", box.height));
    return { left: Math.min(...across), right: Math.max(...across), top: Math.min(...down), bottom: Math.max(...down) };
  }
  if (name === "circle" || name === "ellipse") {
    const size = inside.split(" at ")[0].trim();
    return /^0(px|%)?(\s|$)/.test(size) || /\s0(px|%)?$/.test(size) ? NOWHERE : null;
  }
  return null;
}

// Filters and masks that make an element invisible.
function isFilteredAway(style) {
  if (style.filter !== "none") {
    const opacity = /opacity\(([\d.]+)(%?)\)/.exec(style.filter);
    if (opacity && parseFloat(opacity[1]) / (opacity[2] ? 100 : 1) < LEAST_OPACITY) return true;
    const blur = /blur\(([\d.]+)px\)/.exec(style.filter);
    if (blur && parseFloat(blur[1]) >= 6) return true;
  }
  const mask = style.maskImage;
  return Boolean(mask && mask.includes("gradient(") && colorsIn(mask).length > 0 && colorsIn(mask).every((color) => color.alpha < LEAST_OPACITY));
}

// The back of a card: turned away from the person, and drawn on one side only.
function isTurnedAway(element, style) {
  if (style.backfaceVisibility !== "hidden") return false;
  let matrix = style.transform === "none" ? new DOMMatrix() : new DOMMatrix(style.transform);
  for (let above = parentOf(element); above; above = parentOf(above)) {
    const outer = getComputedStyle(above);
    if (outer.transformStyle !== "preserve-3d") break;
    if (outer.transform !== "none") matrix = new DOMMatrix(outer.transform).multiply(matrix);
  }
  return matrix.m33 < 0;
}

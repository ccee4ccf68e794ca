// What is painted where: finds text that lies under something opaque, or has the colour of what lies under it.

function colorOf(text) {
  const parts = /rgba?\(([^)]+)\)/.exec(text ?? "");
  if (parts) {
    const [red, green, blue, alpha = "1"] = parts[1].split(/[ ,/]+/);
    return { red: +red, green: +green, blue: +blue, alpha: lengthOf(alpha, 1) };
  }
  const wide = /color\((?:srgb|display-p3) ([^)]+)\)/.exec(text ?? "");
  if (!wide) return null;
  const [red, green, blue, alpha = "1"] = wide[1].split(/[ /]+/);
  return { red: red * 255, green: green * 255, blue: blue * 255, alpha: lengthOf(alpha, 1) };
}

const colorsIn = (text) => (text.match(/(?:rgba?|color)\([^)]+\)/g) ?? []).map(colorOf).filter(Boolean);

const over = (front, back) => ({
  red: front.red * front.alpha + back.red * (1 - front.alpha),
  green: front.green * front.alpha + back.green * (1 - front.alpha),
  blue: front.blue * front.alpha + back.blue * (1 - front.alpha),
  alpha: 1,
});

function brightness({ red, green, blue }) {
  const part = (value) => ((value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
}

// Nobody can tell the two apart: the same brightness, and nearly the same hue.
function looksAlike(a, b) {
  const [dark, light] = [brightness(a), brightness(b)].sort((x, y) => x - y);
  const apart = Math.max(Math.abs(a.red - b.red), Math.abs(a.green - b.green), Math.abs(a.blue - b.blue));
  return (light + 0.05) / (dark + 0.05) < 1.2 && apart < 48;
}

// The order of painting, as CSS 2.1 appendix E has it: a list of [rank, number] pairs, outermost first.
// Ranks inside one stacking context: negative z-index, blocks, floats, lines, z-index 0, positive z-index.
const BLOCKS = 0.1;
const FLOATS = 0.2;
const LINES = 0.3;
const LIFTED = 0.4;

function isLater(a, b) {
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a[at] !== b[at]) return a[at] > b[at];
  }
  return a.length > b.length;
}

const makesContext = (style) =>
  style.opacity !== "1" || style.transform !== "none" || style.filter !== "none" || style.isolation === "isolate" ||
  style.mixBlendMode !== "normal" || style.clipPath !== "none" || style.perspective !== "none" ||
  style.position === "fixed" || style.position === "sticky" || /transform|opacity/.test(style.willChange);

const isItem = (display) => display === "flex" || display === "inline-flex" || display === "grid" || display === "inline-grid";

// The place of an element in that order: `context` for its stacking context, `order` for its own content.
function placeOf(style, above, number) {
  const placed = style.position !== "static";
  const item = isItem(above.display);
  const whole = makesContext(style) || ((placed || item) && style.zIndex !== "auto");
  if (whole || placed) {
    const z = (placed || item) && style.zIndex !== "auto" ? +style.zIndex : 0;
    const order = [...above.context, z === 0 ? LIFTED : z, number];
    return { order, context: whole ? order : above.context };
  }
  if (style.float !== "none") return { order: [...above.order, FLOATS, number], context: above.context };
  if (item || (style.display.startsWith("inline-") && style.display !== "inline"))
    return { order: [...above.order, LINES, number], context: above.context };
  return { order: above.order, context: above.context };
}

const BAND = 256;

// Everything that is painted, found again by its place on the page.
class Canvas {
  constructor() {
    this.bands = new Map();
    this.tall = [];
    this.height = innerHeight;
    this.width = innerWidth;
  }

  add(element, style, box, { clip, order, steady, opacity }) {
    const shown = cut(box, clip);
    if (areaOf(shown) < 16) return;
    const color = colorOf(style.backgroundColor);
    const stops = style.backgroundImage === "none" ? [] : colorsIn(style.backgroundImage);
    const picture = style.backgroundImage.includes("url(") || element instanceof HTMLImageElement || element instanceof HTMLVideoElement ||
      element instanceof HTMLCanvasElement || element instanceof SVGElement;
    const solid = stops.length && !picture ? stops.reduce((a, b) => (a.alpha < b.alpha ? a : b)) : color;
    const fill = solid && { ...solid, alpha: solid.alpha * opacity };
    if (!picture && (!fill || fill.alpha === 0)) return;
    const wide = shown.right - shown.left >= this.width * 0.9 && shown.bottom - shown.top >= this.height * 0.9;
    const paint = {
      box: shown, order, element, fill, stops, picture,
      // A small bar that stays while the page scrolls hides nothing for long.
      covers: (!steady || wide) && style.backgroundClip !== "text" && (fill?.alpha >= 0.9 || (opacity >= 0.9 && isOpaquePicture(element))),
    };
    if (shown.bottom - shown.top > 20 * BAND) this.tall.push(paint);
    else
      for (let band = Math.floor(shown.top / BAND); band <= Math.floor(shown.bottom / BAND); band++) {
        if (!this.bands.has(band)) this.bands.set(band, []);
        this.bands.get(band).push(paint);
      }
  }

  *at(x, y) {
    const found = (paint) => x >= paint.box.left && x <= paint.box.right && y >= paint.box.top && y <= paint.box.bottom;
    for (const paint of this.bands.get(Math.floor(y / BAND)) ?? []) if (found(paint)) yield paint;
    for (const paint of this.tall) if (found(paint)) yield paint;
  }

  // Whether something opaque is painted later at this point; what lies inside `element` does not count.
  isCovered(x, y, order, element) {
    for (const paint of this.at(x, y))
      if (paint.covers && isLater(paint.order, order) && !(element && isWithin(paint.element, element))) return true;
    return false;
  }

  // Whether text of this colour, with a shadow or an outline of these, cannot be told from what lies under it.
  blends(x, y, order, { color, edges = [] }) {
    const under = [...this.at(x, y)].filter((paint) => isLater(order, paint.order)).sort((a, b) => (isLater(a.order, b.order) ? -1 : 1));
    const layers = [];
    let back = { red: 255, green: 255, blue: 255, alpha: 1 };
    for (const paint of under) {
      if (paint.picture) return false;
      if (paint.stops.length && !paint.stops.every((stop) => looksAlike(over(color, stop), stop))) return false;
      layers.push(paint.fill);
      if (paint.fill.alpha >= 0.95) break;
    }
    for (const layer of layers.reverse()) back = over(layer, back);
    return [color, ...edges.filter((edge) => edge.alpha > 0.4)].every((each) => looksAlike(over(each, back), back));
  }
}

const isOpaquePicture = (element) =>
  element instanceof HTMLVideoElement || (element instanceof HTMLImageElement && element.naturalWidth > 1 && !/\.svg\b/i.test(element.currentSrc));

// References: the names e1, e2 … by which the model speaks of elements. Each stands for one element with one role,
// one name and one host, for as long as the document lives. None is ever given to something else.

const known = new WeakMap();
const elements = new Map();
let nextNumber = 1;

// The reference of an element as it is now. An element whose name changed gets a new one.
function refOf(element, role, name, host) {
  const before = known.get(element);
  if (before && before.role === role && before.name === name && before.host === host) return before.ref;
  const entry = { ref: `e${nextNumber++}`, element: new WeakRef(element), role, name, host };
  known.set(element, entry);
  elements.set(entry.ref, entry);
  return entry.ref;
}

// The part of an element that a person sees and clicks: itself, or the label of a field that is drawn by its label.
function standInOf(element) {
  if (hasSize(element) && isRendered(element)) return element;
  return labelsOf(element).find(hasSize) ?? element;
}

const hasSize = (element) => [...boxesOf(element)].some((box) => box.width >= 2 && box.height >= 2);

// What is hit at a point of the window, inside shadow roots too.
function hitAt(x, y) {
  let hit = method(Document, "elementFromPoint")(document, x, y);
  for (let root = hit && shadowOf(hit); root; root = shadowOf(hit)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

// A click on `hit` reaches the element: it is the element, lies in it, or is its label.
function reaches(hit, element) {
  if (isWithin(hit, element)) return true;
  const label = closest(hit, "label");
  return Boolean(label && label.control === element) || labelsOf(element).some((each) => isWithin(hit, each));
}

// Points at which one would click: the middle of each piece first, then spots around it.
function* pointsOf(element) {
  const area = windowArea();
  const pieces = [...boxesOf(element)].map((box) => cut(box, area)).filter((box) => areaOf(box) > 1);
  for (const [across, down] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5]])
    for (const box of pieces.slice(0, 5))
      yield [box.left + (box.right - box.left) * across, box.top + (box.bottom - box.top) * down];
}

function describe(element) {
  for (let at = element; at; at = parentOf(at)) {
    const entry = known.get(at);
    if (entry) return `[${entry.ref} ${entry.role} ${entry.name}]`;
    const dialog = attribute(at, "role") === "dialog" || localNameOf(at) === "dialog";
    if (dialog) return "a dialog";
  }
  return `<${localNameOf(element)}> ${shorten(squeeze(element.textContent ?? ""), 40)}`.trim();
}

const inWindow = (element) => {
  const [first] = pointsOf(element);
  return Boolean(first);
};

// The element of a reference, checked: it is what it was when the model read it, and a click reaches it.
// `fault` is a word for what is wrong; Python makes the sentence.
function locate(ref) {
  const entry = elements.get(ref);
  const element = entry?.element.deref();
  if (!element || !isConnected(element)) return { fault: entry ? "gone" : "unknown", name: entry?.name ?? "" };
  const now = identityOf(element);
  const found = { role: entry.role, name: entry.name, host: entry.host };
  if (!now) return { ...found, fault: "hidden" };
  if (now.role !== entry.role || now.name !== entry.name || now.host !== entry.host) return { ...found, fault: "changed", now };
  if (isDisabled(element)) return { ...found, fault: "disabled" };
  const drawn = standInOf(element);
  if (!inWindow(drawn)) drawn.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  if (!inWindow(drawn)) return { ...found, fault: "hidden" };
  let cover = null;
  for (const [x, y] of pointsOf(drawn)) {
    const hit = hitAt(x, y);
    if (hit && reaches(hit, element)) return { ...found, fault: "", x, y, ...purposeOf(element) };
    cover ??= hit;
  }
  return { ...found, fault: "covered", cover: cover ? describe(cover) : "" };
}

// What using the element would do, for the tools that judge it.
function purposeOf(element) {
  const form = element.form ?? closest(element, "form");
  const submits = Boolean(form) && (matches(element, "button:not([type]), [type=submit i], [type=image i]") || (localNameOf(element) === "button" && element.type === "submit"));
  const own = (name) => (submits && hasAttribute(element, `form${name}`) ? attribute(element, `form${name}`) : form ? attribute(form, name) : null);
  let action = "";
  try {
    if (form) action = new URL(own("action") || location.href, baseAddress()).href;
  } catch {
    action = "invalid:";
  }
  return {
    href: addressOf(element)?.href ?? "",
    opens: attribute(element, "target") === "_blank",
    downloads: hasAttribute(element, "download"),
    submits,
    posts: (own("method") ?? "get").toLowerCase() === "post",
    action,
    type: "type" in element ? String(element.type) : localNameOf(element),
    multiple: element.multiple === true,
    secret: isField(element) && isSecret(element),
    options: element instanceof HTMLSelectElement ? [...element.options].map((option) => squeeze(option.label)).slice(0, 500) : [],
  };
}

const elementOf = (ref) => elements.get(ref)?.element.deref() ?? null;

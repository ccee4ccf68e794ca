// The entry: what Python calls in Sestet's isolated world of a frame.

const LIMITS = { nodes: 300000, letters: 6000000, milliseconds: 5000 };
let frames = [];
let hosts = [];

// Read the page. References that are new begin at `start`.
function read(start) {
  nextNumber = Math.max(nextNumber, start);
  const walk = new Walk(LIMITS).run();
  const items = [];
  const maker = new LineMaker(walk.tokens, (element, role, name, host) => {
    const ref = refOf(element, role, name, host);
    items.push([ref, role, name, host, role === "link" ? (addressOf(element)?.href ?? "") : ""]);
    return ref;
  });
  const lines = maker.make();
  frames = maker.frames;
  hosts = walk.hosts;
  return {
    title: squeeze(getter(Document, "title")(document)).slice(0, 300),
    url: location.href,
    lines,
    items,
    next: nextNumber,
    frames: frames.length,
    hosts: hosts.length,
    omitted: walk.omitted,
  };
}

// What an element is now, as a reading would show it; null: nothing of it can be seen.
function identityOf(element) {
  let found = null;
  const note = (each, role, name, host) => {
    if (each === element) found ??= { role, name, host };
    return "";
  };
  new LineMaker(new Walk(LIMITS).run().tokens, note).make();
  return found;
}

// Where the inside of a frame begins in this window, and whether a click at that point of it reaches it.
function frameAt(number, x, y) {
  const element = frames[number];
  if (!element || !isConnected(element)) return { fault: "gone" };
  const box = boxOf(element);
  const style = getComputedStyle(element);
  const left = box.left + element.clientLeft + parseFloat(style.paddingLeft);
  const top = box.top + element.clientTop + parseFloat(style.paddingTop);
  const hit = hitAt(left + x, top + y);
  if (hit !== element) return { fault: "covered", cover: hit ? describe(hit) : "" };
  return { fault: "", x: left + x, y: top + y };
}

const frameOf = (number) => frames[number] ?? null;

// Elements of the last reading that may have a closed shadow root. They are asked about once.
function hostsOf(most) {
  // Elements of a page's own making have shadow roots most often.
  const own = (host) => localNameOf(host).includes("-");
  const asked = [...hosts.filter(own), ...hosts.filter((host) => !own(host))].slice(0, most);
  for (const host of asked) examined.add(host);
  return asked;
}

const adopt = (host, root) => closedRoots.set(host, root);

// While a click is on its way the page may move something else under it. Stop a click that hits another element.
let guardian = null;

function guard(ref) {
  const element = elementOf(ref);
  guardian?.stop();
  const state = { hits: 0, strays: 0 };
  const roots = element ? rootsAround(element) : [];
  const check = (event) => {
    if (!event.isTrusted) return;
    const path = event.composedPath();
    // What is inside of a closed root is seen by the listener in that root alone.
    if (roots.some((root) => root.host === path[0] && root !== event.currentTarget && closedRoots.has(root.host))) return;
    const reached = path.includes(element) || (path[0] instanceof Element && element && reaches(path[0], element));
    if (reached) return void state.hits++;
    state.strays++;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const names = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick"];
  const places = [globalThis, ...roots];
  for (const place of places) for (const name of names) place.addEventListener(name, check, true);
  const stop = () => places.forEach((place) => names.forEach((name) => place.removeEventListener(name, check, true)));
  guardian = { state, stop };
  return true;
}

// The shadow roots around an element, the innermost first.
function rootsAround(element) {
  const roots = [];
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) roots.push(root);
  return roots;
}

// Ends the guard: how many events reached the element, and how many were stopped.
function guarded() {
  guardian?.stop();
  const state = guardian?.state ?? { hits: 0, strays: 0 };
  guardian = null;
  return state;
}

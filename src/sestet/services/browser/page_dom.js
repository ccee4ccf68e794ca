// Access to the page that the page cannot redirect, and the cleaning of its text.
//
// A form or a document shows its named children as properties: <input name="children"> replaces form.children.
// So every property is read through the getter of its class, never through the element.

const getter = (type, name) => {
  const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
  return (node) => get.call(node);
};
const method = (type, name) => {
  const call = type.prototype[name];
  return (node, ...values) => call.apply(node, values);
};

const kindOf = getter(Node, "nodeType");
const firstOf = getter(Node, "firstChild");
const nextOf = getter(Node, "nextSibling");
const parentNodeOf = getter(Node, "parentNode");
const isConnected = getter(Node, "isConnected");
const rootOf = method(Node, "getRootNode");
const textOf = getter(CharacterData, "data");
const attribute = method(Element, "getAttribute");
const hasAttribute = method(Element, "hasAttribute");
const matches = method(Element, "matches");
const closest = method(Element, "closest");
const boxOf = method(Element, "getBoundingClientRect");
const boxesOf = method(Element, "getClientRects");
const openRootOf = getter(Element, "shadowRoot");
const localNameOf = getter(Element, "localName");
const slotOf = getter(Element, "assignedSlot");
const textSlotOf = getter(Text, "assignedSlot");
const findAll = method(Element, "querySelectorAll");
const readRoot = getter(Document, "documentElement");
const readBody = getter(Document, "body");
const readScroller = getter(Document, "scrollingElement");
const readBase = getter(Node, "baseURI");
const findById = method(Document, "getElementById");
const documentElement = () => readRoot(document);
const bodyOf = () => readBody(document);
const baseAddress = () => readBase(document);
const byId = (root, id) => (root instanceof ShadowRoot ? root.getElementById(id) : findById(document, id));

const ELEMENT = 1;
const TEXT = 3;

// Closed shadow roots, which the page's own scripts cannot reach; Python finds them by the DevTools protocol.
const closedRoots = new WeakMap();
const shadowOf = (element) => openRootOf(element) ?? closedRoots.get(element) ?? null;

// The children as they are drawn: those of the shadow root, and in a slot those that were put there.
function childrenOf(element) {
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned;
  }
  const children = [];
  for (let child = firstOf(shadowOf(element) ?? element); child; child = nextOf(child)) children.push(child);
  return children;
}

// The parent as it is drawn; null above the document's root.
function parentOf(node) {
  const slot = kindOf(node) === ELEMENT ? slotOf(node) : kindOf(node) === TEXT ? textSlotOf(node) : null;
  if (slot) return slot;
  const parent = parentNodeOf(node);
  if (parent instanceof ShadowRoot) return parent.host;
  return parent && kindOf(parent) === ELEMENT ? parent : null;
}

function isWithin(node, ancestor) {
  for (let at = node; at; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

// Characters that show nothing, turn the order of others, or belong to fonts of icons. Models read them all.
const UNSEEN =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd59\udd73-\udd7a]|\ud82f[\udca0-\udca3]|[\udb40-\udbff][\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// A page's own "[e8 " would look like one of our references.
const LIKE_A_REF = /\[(?=\s*e\d)/g;

const clean = (text) => text.replace(UNSEEN, "").replace(LIKE_A_REF, "(");
const squeeze = (text) => clean(text).replace(/\s+/g, " ").trim();
const shorten = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);

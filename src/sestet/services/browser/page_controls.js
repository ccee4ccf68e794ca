// What an element is for: its role, its name and its state.

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "file", color: "color", date: "date",
  time: "time", month: "month", week: "week", "datetime-local": "datetime", password: "password",
};
const ROLES = new Set([
  "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "combobox", "textbox", "searchbox", "slider", "spinbutton", "treeitem",
]);
// Roles whose name is the text inside the element.
const NAMED_BY_TEXT = new Set([
  "button", "link", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem", "disclosure",
  "clickable", "checkbox", "radio", "switch",
]);
// A longer name that nobody sees, such as an aria-label or an alt text, is not a name.
const LONGEST_HIDDEN_NAME = 80;
const LONGEST_VALUE = 200;
const MOST_OPTIONS = 6;

const isField = (element) =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

const isEditable = (element) =>
  element instanceof HTMLElement && element.isContentEditable && !parentOf(element)?.isContentEditable;

// The role of an element that a person can use, or "" for any other.
function roleOf(element) {
  const tag = localNameOf(element);
  if (element instanceof HTMLInputElement) {
    if (element.type === "hidden") return "";
    const told = attribute(element, "role");
    if ((element.type === "checkbox" && told === "switch") || told === "combobox") return told;
    return INPUT_ROLES[element.type] ?? "textbox";
  }
  if (element instanceof HTMLSelectElement) return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (element instanceof HTMLTextAreaElement) return "textbox";
  const told = (attribute(element, "role") ?? "").trim().split(/\s+/)[0];
  if (ROLES.has(told)) return told;
  if (tag === "a" || tag === "area") return hasAttribute(element, "href") ? "link" : "";
  if (tag === "button") return "button";
  if (tag === "summary") return "disclosure";
  return isEditable(element) ? "textbox" : "";
}

// An element that is only known to react to clicks: by its cursor, or a handler in its markup.
function isClickable(element, style, aboveCursor) {
  return hasAttribute(element, "onclick") || (style.cursor === "pointer" && aboveCursor !== "pointer");
}

const textById = (element, ids) =>
  squeeze((ids ?? "").split(/\s+/).map((id) => (id && byId(rootOf(element), id)?.textContent) || "").join(" "));

const isRendered = (element) => getComputedStyle(element).display === "contents" || element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

const labelsOf = (element) => [...(("labels" in element && element.labels) || [])].filter(isRendered);

// The name that is not on the page as text inside the element.
function unseenName(element) {
  const image = localNameOf(element) === "img" ? attribute(element, "alt") : "";
  const names = [
    textById(element, attribute(element, "aria-labelledby")),
    attribute(element, "aria-label"),
    image || (element instanceof HTMLInputElement && element.type === "image" ? element.alt : ""),
    attribute(element, "title"),
  ];
  for (const name of names.map((text) => squeeze(text ?? "")))
    if (name && name.length <= LONGEST_HIDDEN_NAME) return name;
  return "";
}

// The name of a field without a label that can be seen.
function fieldName(element, mute) {
  if (element instanceof HTMLInputElement && INPUT_ROLES[element.type] === "button") {
    if (element.type !== "image" && !mute) return squeeze(element.value) || { submit: "Submit", reset: "Reset" }[element.type] || unseenName(element);
  }
  const hint = squeeze(attribute(element, "placeholder") ?? "");
  return unseenName(element) || shorten(hint, 100) || shorten(squeeze(attribute(element, "name") ?? ""), 40);
}

// Values that only the person and the site may know.
function isSecret(element) {
  const filled = (attribute(element, "autocomplete") ?? "").toLowerCase();
  if (element instanceof HTMLInputElement && element.type === "password") return true;
  if (/\bcc-|one-time-code|password/.test(filled)) return true;
  const named = `${attribute(element, "name") ?? ""} ${attribute(element, "id") ?? ""}`.toLowerCase();
  if (/card.?num|cc.?num|\bcvv|\bcvc|cvc2?\b|security.?code|\botp\b|passw|passcode|\bpin\b|one.?time/.test(named)) return true;
  const style = getComputedStyle(element).webkitTextSecurity;
  return (style && style !== "none") || ("value" in element && typeof element.value === "string" && isCardNumber(element.value));
}

// 13 to 19 digits with the check digit of payment cards.
function isCardNumber(value) {
  const digits = value.replace(/[ -]/g, "");
  if (!/^\d{13,19}$/.test(digits)) return false;
  let sum = 0;
  [...digits].reverse().forEach((digit, at) => (sum += at % 2 ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : +digit));
  return sum % 10 === 0;
}

function valueOf(element, role) {
  if (["checkbox", "radio", "switch", "button"].includes(role)) return "";
  if (element instanceof HTMLSelectElement) return [...element.selectedOptions].map((option) => squeeze(option.label)).join(", ");
  if (isSecret(element)) return element.value ? "•••" : "";
  if (element instanceof HTMLInputElement && element.type === "file") return [...element.files].map((file) => squeeze(file.name)).join(", ");
  if (isField(element)) return shorten(squeeze(element.value), LONGEST_VALUE);
  return squeeze(attribute(element, "aria-valuetext") ?? attribute(element, "aria-valuenow") ?? "").slice(0, 40);
}

// A few options of a closed list; the rest is only counted.
function optionsOf(select) {
  const names = [...select.options].filter((option) => !option.disabled).map((option) => shorten(squeeze(option.label), 40)).filter(Boolean);
  const more = names.length - MOST_OPTIONS;
  return more > 1 ? `${names.slice(0, MOST_OPTIONS).join(", ")}, +${more} more` : names.join(", ");
}

const isDisabled = (element) => matches(element, ":disabled") || attribute(element, "aria-disabled") === "true";

// What the site says is wrong with a field.
function complaintOf(element) {
  const told = attribute(element, "aria-invalid");
  const wrong = (told && told !== "false") || (isField(element) && matches(element, ":user-invalid"));
  if (!wrong) return "";
  const seen = [attribute(element, "aria-errormessage")].map((ids) => textById(element, ids)).find(Boolean);
  return shorten(seen || squeeze(element.validationMessage ?? "") || "yes", 120);
}

// The state, in the words that follow a control's name.
function stateOf(element, role, mute) {
  const words = [];
  const value = mute ? "" : valueOf(element, role);
  if (value) words.push(`= ${value}`);
  const checked = "checked" in element && ["checkbox", "radio", "switch"].includes(role) ? element.checked : attribute(element, "aria-checked");
  if (checked === true || checked === "true") words.push("checked");
  if (checked === "mixed" || element.indeterminate === true) words.push("mixed");
  if (attribute(element, "aria-selected") === "true") words.push("selected");
  if (attribute(element, "aria-pressed") === "true") words.push("pressed");
  if (attribute(element, "aria-current") && attribute(element, "aria-current") !== "false") words.push("current");
  const expanded = role === "disclosure" ? String(hasAttribute(parentOf(element) ?? element, "open")) : attribute(element, "aria-expanded");
  if (expanded === "true") words.push("expanded");
  if (expanded === "false") words.push("collapsed");
  if (element.required === true || attribute(element, "aria-required") === "true") words.push("required");
  if (element.readOnly === true) words.push("read-only");
  if (isDisabled(element)) words.push("disabled");
  const complaint = complaintOf(element);
  if (complaint) words.push(`invalid: ${complaint}`);
  if (element instanceof HTMLSelectElement) words.push(`(${optionsOf(element)})`);
  return words.join(" ");
}

// Where a link leads, if to another host than the page's.
function foreignHost(element) {
  const address = addressOf(element);
  return address && /^https?:$/.test(address.protocol) && address.host !== location.host ? address.host : "";
}

function addressOf(element) {
  const href = element instanceof SVGElement ? element.href?.baseVal : attribute(element, "href");
  if (href === null || href === undefined) return null;
  try {
    return new URL(href, baseAddress());
  } catch {
    return null;
  }
}

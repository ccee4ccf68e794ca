// What hands do to fields: filling them in the way typing would, wherever the focus is.

const same = (one, other) => squeeze(one).toLowerCase() === squeeze(other).toLowerCase();

function tell(element, ...names) {
  for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
}

// Through the setter of the class: frameworks watch the element's own.
function setValue(element, type, value) {
  Object.getOwnPropertyDescriptor(type.prototype, "value").set.call(element, value);
}

// Each line of the value names one option.
function choose(select, value) {
  const options = [...select.options];
  const wanted = value.split("\n");
  const chosen = options.filter((option) => wanted.some((each) => same(each, option.label) || same(each, option.value)));
  if (!chosen.length) return { options: options.map((option) => squeeze(option.label)).slice(0, 40) };
  for (const option of options) option.selected = select.multiple ? chosen.includes(option) : option === chosen[0];
  tell(select, "input", "change");
  return { value };
}

function tick(box, value) {
  const yes = ["true", "on", "yes", "1", "checked"].includes(value.trim().toLowerCase());
  const no = ["false", "off", "no", "0", "unchecked"].includes(value.trim().toLowerCase());
  if (!yes && !no) return { options: ["yes", "no"] };
  if (box.checked !== yes) box.click();
  return { value: box.checked ? "yes" : "no", refused: box.checked !== yes };
}

// Puts a value into a field. The answer says what stands in it then, or why it does not take the value.
function fillField(ref, value) {
  const field = elementOf(ref);
  if (field instanceof HTMLSelectElement) return choose(field, value);
  if (field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type)) return tick(field, value);
  if (!isField(field) && !isEditable(field)) return { notAField: true };
  if (field.readOnly) return { readOnly: true };
  field.focus();
  if (field instanceof HTMLInputElement) setValue(field, HTMLInputElement, value);
  else if (field instanceof HTMLTextAreaElement) setValue(field, HTMLTextAreaElement, value);
  else {
    getSelection().selectAllChildren(field);
    if (!document.execCommand("insertText", false, value)) field.textContent = value;
  }
  tell(field, "input", "change");
  const now = isField(field) ? field.value : field.innerText;
  return { value: now, refused: squeeze(now) !== squeeze(value) };
}

function shownValue(field) {
  if (isSecret(field)) return field.value ? "•••" : "";
  if (field.type === "file") return [...field.files].map((file) => file.name).join(", ");
  if (field instanceof HTMLSelectElement) return [...field.selectedOptions].map((option) => squeeze(option.label)).join(", ");
  return field.value;
}

// The name under which the model knows a field, or the text of its label.
const nameOf = (field) => known.get(field)?.name || squeeze(labelsOf(field)[0]?.innerText ?? "") || fieldName(field) || field.type;

const formOf = (element) => element.form ?? closest(element, "form");

// The fields that the form around an element would send.
function sentFields(ref) {
  const form = formOf(elementOf(ref));
  const fields = form ? [...form.elements] : [...document.querySelectorAll("input, textarea, select")];
  return fields
    .filter((field) => isField(field) && !["submit", "button", "reset", "image"].includes(field.type))
    .filter((field) => !["checkbox", "radio"].includes(field.type) || field.checked);
}

// All that would be sent, but for the values of secrets. Two of these differ if anything that would be sent differs.
const formContent = (ref) => sentFields(ref).map((field) => [attribute(field, "name") ?? "", field.type, shownValue(field)]);

// What the form around an element would send: the name of each field that is filled in, and its value.
function formValues(ref) {
  return sentFields(ref)
    .map((field) => [nameOf(field), shownValue(field).slice(0, 200)])
    .filter(([, value]) => value)
    .slice(0, 40);
}

const NOT_TYPED = ["hidden", "submit", "button", "reset", "image", "checkbox", "radio", "range", "color", "file"];

function isAsItCame(field) {
  if (field instanceof HTMLSelectElement) {
    const preset = [...field.options].filter((option) => option.defaultSelected);
    const first = preset.length || field.multiple ? preset : [...field.options].slice(0, 1);
    return [...field.selectedOptions].every((option) => first.includes(option) || !option.value);
  }
  if (["checkbox", "radio"].includes(field.type)) return field.checked === field.defaultChecked;
  if (field.type === "file") return !field.files.length;
  return NOT_TYPED.includes(field.type) || !field.value;
}

// Whether the form around an element asks for text, and has nothing but what the page itself chose.
function isEmptyForm(ref) {
  const form = formOf(elementOf(ref));
  const fields = form ? [...form.elements].filter(isField) : [];
  const asks = fields.some((field) => !(field instanceof HTMLSelectElement) && !NOT_TYPED.includes(field.type));
  return asks && fields.every(isAsItCame);
}

// Moves the page; false if it is at its end already.
function scrollPage(direction) {
  const page = document.scrollingElement;
  const before = page.scrollTop;
  const step = { up: -0.85, down: 0.85 }[direction];
  if (step) scrollBy({ top: step * innerHeight, behavior: "instant" });
  else scrollTo({ top: direction === "top" ? 0 : page.scrollHeight, behavior: "instant" });
  return page.scrollTop !== before;
}

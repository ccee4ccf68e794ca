import { array, assert, constantFrom, infiniteStream, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { branchesOf, layOut, MOST_NODES, nodeKey, type Triple } from "../../src/features/graph/layout";
import { boxOf, nameAt } from "../../src/features/graph/names";

const NAMES = ["NAS", "the outage", "a full disk", "Ines", "Bremen", "cron", "tea", "Graz", "Tomás", "house"];
const TRIPLES = array(
  record({ subject: constantFrom(...NAMES), predicate: constantFrom("knows", "contains"), object: constantFrom(...NAMES) }),
  { maxLength: 40 },
);

function star(arms: number): Triple[] {
  return Array.from({ length: arms }, (_, at) => ({ subject: "middle", predicate: "contains", object: `thing ${at}` }));
}

function parts(parent: string, number: number): Triple[] {
  return Array.from({ length: number }, (_, at) => ({ subject: parent, predicate: "contains", object: `${parent} ${at}` }));
}

test("the same facts give the same picture in any order and any spelling of the middle", () => {
  assert(
    property(TRIPLES, infiniteStream(integer({ min: 0, max: 1000 })), (facts, numbers) => {
      const shuffled = facts.map((fact) => ({ fact, at: numbers.next().value as number })).toSorted((a, b) => a.at - b.at);
      const known = { subject: "NAS", predicate: "contains", object: "the outage" };
      expect(layOut(" nas ", [...shuffled.map(({ fact }) => fact), known])).toEqual(layOut("NAS", [known, ...facts]));
    }),
  );
});

test("a thing is drawn once, and none is further away than two steps", () => {
  const facts = [
    { subject: "a", predicate: "knows", object: "b" },
    { subject: "B", predicate: "knows", object: "c" },
    { subject: "c", predicate: "knows", object: "d" },
    { subject: "c", predicate: "knows", object: "A" },
  ];
  const picture = layOut("a", facts);
  expect(picture.nodes.map(({ key, ring }) => [key, ring])).toEqual([["a", 0], ["b", 1], ["c", 1], ["d", 2]]);
  expect(picture.edges).toHaveLength(4);
  expect(picture.left).toBe(0);
});

test("at most sixty things are drawn, and the others are counted where they belong", () => {
  const facts = [...star(10), ...Array.from({ length: 90 }, (_, at) => ({ subject: "thing 3", predicate: "contains", object: `part ${at}` }))];
  const picture = layOut("middle", facts, { middle: 10, "thing 3": 112, "part 0": 5 });
  expect(picture.nodes).toHaveLength(MOST_NODES);
  expect(picture.nodes.filter(({ ring }) => ring === 1)).toHaveLength(10);
  expect(picture.nodes.find(({ key }) => key === "thing 3")).toMatchObject({ facts: 112, more: 112 - 50 });
  expect(picture.nodes.find(({ key }) => key === "part 0")?.more).toBe(4);
  expect(picture.left).toBe(41);
});

test("every neighbour keeps a part of the second ring when there is too much of it", () => {
  const facts = [...star(2), ...parts("thing 0", 100), ...parts("thing 1", 3)];
  const second = layOut("middle", facts).nodes.filter(({ ring }) => ring === 2);
  expect(second.filter(({ key }) => key.startsWith("thing 1 "))).toHaveLength(3);
  expect(second).toHaveLength(57);
});

test("no two things of a ring stand in one place", () => {
  const picture = layOut("middle", star(59));
  const places = new Set(picture.nodes.map(({ x, y }) => `${x},${y}`));
  expect(places.size).toBe(60);
});

test("a fact about itself is no line, and a middle without facts stands alone", () => {
  expect(layOut("a", [{ subject: "a", predicate: "knows", object: "A" }]).edges).toEqual([]);
  expect(layOut("nobody", []).nodes).toMatchObject([{ name: "nobody", ring: 0, x: 0, y: 0 }]);
  expect(nodeKey("  Ｎew \n York ")).toBe("new york");
});

test("the frame holds every name, level or along its spoke", () => {
  const name = "a name of some length";
  const level = { ...layOut("a", [{ subject: "a", predicate: "knows", object: name }]).nodes[1]!, shown: name, count: " +3", isTurned: false };
  const turned = { ...level, x: -200, y: 0, angle: Math.PI, isTurned: true };
  for (const node of [level, turned]) {
    const [box, text] = [boxOf([node]), nameAt(node)];
    expect(box.width).toBeGreaterThan(name.length * 6);
    expect(text.x).toBeGreaterThan(box.x);
    expect(text.x).toBeLessThan(box.x + box.width);
    expect(text.y).toBeGreaterThan(box.y);
    expect(text.y).toBeLessThan(box.y + box.height);
  }
  expect(nameAt(turned)).toMatchObject({ textAnchor: "end", transform: "rotate(360.00 -200 0)" });
});

test("names turn only where the things of a ring stand close", () => {
  expect(layOut("middle", star(6)).isTurned).toEqual([false, false, false]);
  expect(layOut("middle", star(40)).isTurned).toEqual([false, true, false]);
});

test("as a tree, each thing hangs once on the first neighbour that knows it, with its links in both directions", () => {
  const facts = [
    { subject: "a", predicate: "knows", object: "b" },
    { subject: "c", predicate: "owns", object: "a" },
    { subject: "b", predicate: "contains", object: "d" },
    { subject: "c", predicate: "contains", object: "d" },
  ];
  const tree = branchesOf(layOut("a", facts)).map(({ node, links, children }) => [node.key, links, children.map((child) => [child.node.key, child.links])]);
  expect(tree).toEqual([["b", ["→ knows"], [["d", ["→ contains"]]]], ["c", ["← owns"], []]]);
});

test("the tree holds every thing of the picture", () => {
  assert(
    property(TRIPLES, (facts) => {
      const picture = layOut("NAS", facts);
      const keys = branchesOf(picture).flatMap(({ node, children }) => [node.key, ...children.map((child) => child.node.key)]);
      expect(keys.toSorted()).toEqual(picture.nodes.slice(1).map(({ key }) => key).toSorted());
    }),
  );
});

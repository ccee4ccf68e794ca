import { address } from "../../state/route";
import { clean } from "../../ui/plain";
import { type PlacedNode, type Picture, branchesOf } from "./layout";
import { WORDS } from "./words";

/** The picture on a phone: the same things as a tree, whose names have the whole width. */
export function Branches({ picture }: { picture: Picture }) {
  const [middle] = picture.nodes;
  if (!middle) return null;
  return (
    <figure className="graph-picture card" aria-label={WORDS.picture(clean(middle.name))}>
      <p className="graph-root" dir="auto">{clean(middle.name)}<More node={middle} /></p>
      <ul className="graph-branches">
        {branchesOf(picture).map(({ node, links, children }) => (
          <li key={node.key}>
            <Branch node={node} links={links} />
            {children.length > 0 && (
              <ul className="graph-branches">
                {children.map((child) => <li key={child.node.key}><Branch node={child.node} links={child.links} /></li>)}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {picture.left > 0 && <figcaption className="quiet">{WORDS.left(picture.left)}</figcaption>}
    </figure>
  );
}

function Branch({ node, links }: { node: PlacedNode; links: readonly string[] }) {
  return (
    <a className="graph-branch" href={address("graph", node.name)}>
      <code className="graph-links">{links.join(", ")}</code>
      <span dir="auto">{clean(node.name)}<More node={node} /></span>
    </a>
  );
}

function More({ node }: { node: PlacedNode }) {
  return node.more > 0 ? <span className="quiet num">{WORDS.more(node.more)}</span> : null;
}

import { address, type ScreenProps } from "../../state/route";
import { ScreenFrame } from "../../ui/screen";
import { ChangesTab } from "./changes";
import { CostsTab } from "./costs";
import { DoctorTab } from "./doctor";
import { ModelTab } from "./model";
import { PageTab } from "./this-page";
import { ValuesTab } from "./values";
import "./settings.css";
import { WORDS } from "./words";

const TABS = { doctor: DoctorTab, model: ModelTab, values: ValuesTab, changes: ChangesTab, costs: CostsTab, page: PageTab } as const;
type Name = keyof typeof TABS;

/** Doctor first; then the model, the values with their origin, what can be undone, and what it cost. */
export default function Settings({ route, onMenu }: ScreenProps) {
  const [wanted = "doctor"] = route.rest;
  const name: Name = Object.hasOwn(TABS, wanted) ? (wanted as Name) : "doctor";
  const Tab = TABS[name];
  return (
    <ScreenFrame title={WORDS.title} onMenu={onMenu}>
      <nav className="tabs" aria-label={WORDS.title}>
        {(Object.keys(TABS) as Name[]).map((each) => (
          <a key={each} href={address("settings", each)} aria-current={each === name ? "page" : undefined}>{WORDS.tabs[each]}</a>
        ))}
      </nav>
      <Tab />
    </ScreenFrame>
  );
}

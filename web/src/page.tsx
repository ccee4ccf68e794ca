import { Mark } from "./ui/mark";

export function Page() {
  return <Mark agent="orchestrator" />;
}

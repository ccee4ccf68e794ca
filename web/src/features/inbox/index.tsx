import type { ScreenProps } from "../../state/route";

export default function Inbox({ route }: ScreenProps) {
  return <main className="screen"><div className="screen-column"><h1>{route.screen}</h1></div></main>;
}

import { type ReactNode, useEffect, useRef } from "react";

/** The opened part of a row. A link that leads to it shows it; a row that is in view does not move. */
export function Opened({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void place.current?.closest("li")?.scrollIntoView({ block: "nearest" });
  }, []);
  return <div ref={place} className="memory-open">{children}</div>;
}

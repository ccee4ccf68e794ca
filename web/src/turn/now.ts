import { useEffect, useState } from "react";

/** Seconds since 1970, told again while something runs. */
export function useNow(isRunning: boolean, every = 200): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(Date.now() / 1000), every);
    return () => clearInterval(timer);
  }, [isRunning, every]);
  return now;
}

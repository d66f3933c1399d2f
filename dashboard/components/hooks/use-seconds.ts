import { useEffect, useState } from 'react';

/** The current time, updated every second while `active`. */
export function useSeconds(active: boolean): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    if (!active) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [active]);
  return nowMs;
}

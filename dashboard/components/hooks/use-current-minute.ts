import { useSyncExternalStore } from 'react';

/** Re-renders when the minute changes, to keep relative times current. */
export function useCurrentMinute(): number {
  return useSyncExternalStore(subscribe, minuteNow);
}

const minuteMs = 60_000;
const minuteNow = () => Math.floor(Date.now() / minuteMs);
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One shared timer: a list shows many times. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, minuteMs / 4);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

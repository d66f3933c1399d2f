/** The latest save, or what failed instead, which the shell announces for a while. */
interface Save {
  readonly text: string;
  readonly failed: boolean;
}

const shownMs = 4_000;

let current: Save | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function announceSave(text: string): void {
  announce({ text, failed: false });
}

export function announceFailure(text: string): void {
  announce({ text, failed: true });
}

/** @param save a new object, so that two equal saves are two announcements */
function announce(save: Save): void {
  publish(save);
  clearTimeout(timer);
  timer = setTimeout(() => publish(null), shownMs);
}

export const latestSave = (): Save | null => current;

export function subscribeToSaves(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function publish(save: Save | null): void {
  current = save;
  for (const listener of listeners) listener();
}

import { useEffect, useState } from 'react';

/** What went wrong must be read. */
const shownMs = { copied: 1_500, failed: 8_000 } as const;

export type Copied = keyof typeof shownMs | null;

/** Copies a text, and says for a while what came of it. */
export function useCopy(): readonly [Copied, (text: string) => void] {
  const [copied, setCopied] = useState<Copied>(null);
  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), shownMs[copied]);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (text: string) => {
    const done = (await copyByBrowser(text)) || copyBySelection(text);
    setCopied(done ? 'copied' : 'failed');
  };
  return [copied, (text) => void copy(text)];
}

/** Missing where the page is served over plain HTTP, and refused where the window may not. */
async function copyByBrowser(text: string): Promise<boolean> {
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** The old way, which takes no more than a click: what is selected is copied. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  Object.assign(field.style, { position: 'fixed', opacity: '0' });
  // What lies outside an open dialog is not to be given the focus.
  (focused?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}

import { useEffect, useState } from 'react';

/** Failures stay long enough to be read. */
const shownMs = { copied: 1_500, failed: 8_000 } as const;

export type Copied = keyof typeof shownMs | null;

/** Copies text to the clipboard and reports the outcome for a while. */
export function useCopy(): readonly [Copied, (text: string) => void] {
  const [copied, setCopied] = useState<Copied>(null);
  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), shownMs[copied]);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (text: string) => {
    setCopied((await copyText(text)) ? 'copied' : 'failed');
  };
  return [copied, (text) => void copy(text)];
}

/** Copies text to the clipboard; false if that failed. */
export async function copyText(text: string): Promise<boolean> {
  return (await copyByBrowser(text)) || copyBySelection(text);
}

/** The clipboard API is missing over plain HTTP and may be denied. */
async function copyByBrowser(text: string): Promise<boolean> {
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Fallback: `execCommand` copies the selection and needs only a user gesture. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  Object.assign(field.style, { position: 'fixed', opacity: '0' });
  // An open dialog traps focus, so the field must be inside it.
  (focused?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}

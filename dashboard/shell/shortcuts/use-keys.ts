import { useEffect, useRef } from 'react';
import { singleKeyShortcutsEnabled } from './single-key-shortcuts.ts';

/** The time after `g` in which a letter selects a page. */
const sequenceMs = 1_000;

/**
 * Single keys of a page, by key. They do nothing while the user types, in dialogs and menus, with a modifier, as the second
 * key of `g`, and when turned off; Esc always works. Elements that handle a key themselves come first.
 */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let sequenceStartMs = Number.NEGATIVE_INFINITY;
    let isInOverlay = false;
    // Esc closes a dialog while it captures the event. A check after that would miss the dialog, and Esc would act twice.
    const onCapture = () => {
      isInOverlay = document.querySelector(overlays) !== null;
    };
    const onKey = (event: KeyboardEvent) => {
      const { key, target, timeStamp } = event;
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      const isSequence = timeStamp - sequenceStartMs < sequenceMs;
      if (key === 'g') sequenceStartMs = timeStamp;
      if (isSequence || isInOverlay || isTyping(target)) return;
      if (key !== 'Escape' && !singleKeyShortcutsEnabled()) return;
      const action = Object.hasOwn(current.current, key) ? current.current[key] : undefined;
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onCapture, true);
    document.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onCapture, true);
      document.removeEventListener('keydown', onKey);
    };
  }, []);
}

const overlays = '[role="dialog"], [role="menu"], [role="listbox"]';

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'))
  );
}

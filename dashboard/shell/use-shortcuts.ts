import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useRef } from 'react';
import { mac } from './command-key.ts';
import { places } from './navigation-items.ts';
import { singleKeysOn } from './single-key-shortcuts.ts';

/** The time after `g` in which a letter selects a page. */
const sequenceMs = 1_000;

/** Global shortcuts. While the user types, only those with a modifier work. */
export function useShortcuts(open: { openPalette: () => void; openSheet: () => void }): void {
  const navigate = useNavigate();
  const current = useRef(open);
  current.current = open;
  // A layout effect, so that the shortcuts work from the first paint.
  useLayoutEffect(() => {
    let wentAtMs = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      // With other modifiers, and as Ctrl+K on a Mac, it has another meaning.
      const command = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
      if (command && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        return current.current.openPalette();
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (!singleKeysOn()) return;
      const place = places.find(({ key }) => key === event.key);
      if (place && event.timeStamp - wentAtMs < sequenceMs) return void navigate({ to: place.to });
      if (event.key === 'g') wentAtMs = event.timeStamp;
      if (event.key === '?') current.current.openSheet();
      if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]');
        if (!search) return;
        event.preventDefault();
        search.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="dialog"] *'))
  );
}

import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useRef } from 'react';
import { navigationItems } from '../navigation/navigation-items.ts';
import { isMac } from './command-key.ts';
import { singleKeyShortcutsEnabled } from './single-key-shortcuts.ts';

/** The time after `g` in which a letter selects a page. */
const sequenceMs = 1_000;

/** Global shortcuts. While the user types, only those with a modifier work. */
export function useShortcuts(open: { openPalette: () => void; openShortcuts: () => void }): void {
  const navigate = useNavigate();
  const current = useRef(open);
  current.current = open;
  // A layout effect, so that the shortcuts work from the first paint.
  useLayoutEffect(() => {
    let sequenceStartMs = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      // With other modifiers, and as Ctrl+K on a Mac, it has another meaning.
      const command = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
      if (command && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        return isInPalette(event.target) ? undefined : current.current.openPalette();
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (!singleKeyShortcutsEnabled()) return;
      const item = navigationItems.find(({ key }) => key === event.key);
      if (item && event.timeStamp - sequenceStartMs < sequenceMs)
        return void navigate({ to: item.to });
      if (event.key === 'g') sequenceStartMs = event.timeStamp;
      if (event.key === '?') current.current.openShortcuts();
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

const isInPalette = (target: EventTarget | null) =>
  target instanceof Element && target.closest('.mantine-Spotlight-content') !== null;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="dialog"] *'))
  );
}

import { type RefObject, useEffect, useRef } from 'react';

/** The first page is a page load: the browser starts reading at the top. */
let hasNavigated = false;
let focusedAtStart: Element | null = null;

/** Call when a navigation starts. The focus may be in a dialog that closes with it. */
export function startNavigation(): void {
  focusedAtStart = document.activeElement;
}

/**
 * After navigation, moves focus to the heading: screen readers announce it and Tab continues from there. If the user has
 * opened a dialog while the page was loading, the focus stays there.
 */
export function useHeadingFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const focused = document.activeElement;
    const isInNewDialog = focused !== focusedAtStart && focused?.closest('[role="dialog"]');
    if (hasNavigated && !isInNewDialog) heading.current?.focus({ preventScroll: true });
    hasNavigated = true;
  }, []);
  return heading;
}

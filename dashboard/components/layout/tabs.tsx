import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import classes from './tabs.module.css';

/** Links to the tabs of a page. Scrolls the active tab into view on narrow screens. */
export function Tabs(props: { readonly label: string; readonly children: ReactNode }) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // A new path activates another tab.
  useLayoutEffect(() => {
    const open = nav.current?.querySelector<HTMLElement>('[data-status="active"]');
    if (!nav.current || !open) return;
    // `scrollIntoView` would also scroll the page.
    const room = nav.current.clientWidth - open.offsetWidth;
    nav.current.scrollLeft = open.offsetLeft - nav.current.offsetLeft - room / 2;
  }, [pathname]);
  return (
    <nav ref={nav} className={classes.tabs} aria-label={props.label}>
      {props.children}
    </nav>
  );
}

import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import classes from './tabs.module.css';

/** The areas of a page, as links. Where not all find room, the one that is open is scrolled to. */
export function Tabs(props: { readonly label: string; readonly children: ReactNode }) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // Another path is another open tab.
  useLayoutEffect(() => {
    const open = nav.current?.querySelector<HTMLElement>('[data-status="active"]');
    if (!nav.current || !open) return;
    // Not `scrollIntoView`, which moves the page too.
    const room = nav.current.clientWidth - open.offsetWidth;
    nav.current.scrollLeft = open.offsetLeft - nav.current.offsetLeft - room / 2;
  }, [pathname]);
  return (
    <nav ref={nav} className={classes.tabs} aria-label={props.label}>
      {props.children}
    </nav>
  );
}

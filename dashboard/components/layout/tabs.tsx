import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import classes from './tabs.module.css';

/**
 * Links to the tabs of a page. Scrolls the active tab into view on narrow screens, and names it in the document's title, by
 * which the browser's history tells them apart.
 */
export function Tabs(props: {
  readonly label: string;
  /** The title of the page. */
  readonly page: string;
  readonly children: ReactNode;
}) {
  const { page } = props;
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
  // After the header of the page, which sets the title without the tab.
  useEffect(() => {
    const open = nav.current?.querySelector('[data-status="active"]');
    if (open) document.title = `${open.textContent} · ${page} · Cueline`;
  }, [pathname, page]);
  return (
    <nav ref={nav} className={classes.tabs} aria-label={props.label}>
      {props.children}
    </nav>
  );
}

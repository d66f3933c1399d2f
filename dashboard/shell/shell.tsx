import { ActionIcon, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useMe, workspaceName } from '../data/me.ts';
import { Icon } from '../parts/icon.tsx';
import { Navigation } from './navigation.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './use-shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx'));
const ShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'));

/** What surrounds every page: the way around, the palette, the shortcuts. */
export function Shell() {
  const me = useMe();
  const { pathname } = useLocation();
  const [menu, { open: openMenu, close: closeMenu }] = useDisclosure();
  // Each is fetched when it is first asked for, and opens with what it is told then.
  const [paletteAsked, setPaletteAsked] = useState(0);
  const [sheetAsked, setSheetAsked] = useState(0);
  const openPalette = () => setPaletteAsked((times) => times + 1);
  const openSheet = () => setSheetAsked((times) => times + 1);
  useShortcuts({ openPalette, openSheet });
  // It closes because the page has changed.
  useEffect(closeMenu, [pathname]);
  const navigation = <Navigation me={me} onSearch={openPalette} onShortcuts={openSheet} />;
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#page">
        Skip to the page
      </a>
      <section className={classes.bar} aria-label="Top">
        <ActionIcon variant="subtle" color="gray" aria-label="Open the menu" onClick={openMenu}>
          <Icon name="menu" size={18} />
        </ActionIcon>
        <span className={classes.barName}>{workspaceName(me)}</span>
        <ActionIcon variant="subtle" color="gray" aria-label="Search" onClick={openPalette}>
          <Icon name="search" size={18} />
        </ActionIcon>
      </section>
      <aside className={classes.side}>{navigation}</aside>
      <Drawer opened={menu} onClose={closeMenu} size="17rem" title="Cueline" padding="sm">
        {navigation}
      </Drawer>
      <main id="page" className={classes.page} tabIndex={-1}>
        <Outlet />
      </main>
      <Suspense>
        {paletteAsked > 0 && <Palette asked={paletteAsked} me={me} onShortcuts={openSheet} />}
        {sheetAsked > 0 && <ShortcutSheet asked={sheetAsked} />}
      </Suspense>
    </div>
  );
}

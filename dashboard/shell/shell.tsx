import { ActionIcon, Drawer, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { ErrorState } from '../components/error-state.tsx';
import { Icon } from '../components/icon.tsx';
import { lazyPart } from '../components/lazy-component.tsx';
import { useMe, workspaceName } from '../data/workspace/me.ts';
import { Navigation } from './navigation.tsx';
import { PasswordNotice } from './password-notice.tsx';
import classes from './shell.module.css';
import { useSessionEnd } from './use-session-end.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { useSignOut } from './use-sign-out.ts';

const Palette = lazyPart(() => import('./command-palette.tsx'), true);
const ShortcutSheet = lazyPart(() => import('./shortcuts-dialog.tsx'), true);
const SignInAgain = lazyPart(() => import('./session-expired-dialog.tsx'), true);

/** The application shell: navigation, command palette and shortcuts around every page. */
export function Shell() {
  const me = useMe();
  const { pathname } = useLocation();
  const [menu, { open: openMenu, close: closeMenu }] = useDisclosure();
  // Loaded on first use. The counter reopens a dialog that is already mounted.
  const [paletteAsked, setPaletteAsked] = useState(0);
  const [sheetAsked, setSheetAsked] = useState(0);
  const openPalette = () => setPaletteAsked((times) => times + 1);
  const openSheet = () => setSheetAsked((times) => times + 1);
  const signOut = useSignOut();
  const [ended, goOn] = useSessionEnd();
  useShortcuts({ openPalette, openSheet });
  // Close the menu after navigation.
  useEffect(closeMenu, [pathname]);
  const ways = { onShortcuts: openSheet, onSignOut: () => signOut.mutate() };
  const navigation = <Navigation me={me} onSearch={openPalette} {...ways} />;
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#page">
        Skip to content
      </a>
      <section className={classes.bar} aria-label="Top">
        <ActionIcon variant="subtle" color="gray" aria-label="Open menu" onClick={openMenu}>
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
        <PasswordNotice />
        <Outlet />
      </main>
      <Suspense>
        {paletteAsked > 0 && (
          <Palette asked={paletteAsked} me={me} onClose={() => setPaletteAsked(0)} {...ways} />
        )}
        {sheetAsked > 0 && <ShortcutSheet asked={sheetAsked} onClose={() => setSheetAsked(0)} />}
        {ended && <SignInAgain me={me} onDone={goOn} />}
      </Suspense>
      <Modal opened={signOut.isError} onClose={signOut.reset} title="You are still signed in">
        <ErrorState error={signOut.error} onRetry={() => signOut.mutate()} />
      </Modal>
    </div>
  );
}

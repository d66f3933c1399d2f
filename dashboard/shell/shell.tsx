import { ActionIcon, Modal } from '@mantine/core';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { lazyComponent } from '../components/loading/lazy-component.tsx';
import { ErrorState } from '../components/states/error-state.tsx';
import { useMe, workspaceName } from '../data/workspace/me.ts';
import { Navigation } from './navigation/navigation.tsx';
import { ConnectionNotice } from './notices/connection-notice.tsx';
import { EndpointNotice } from './notices/endpoint-notice.tsx';
import { PasswordNotice } from './notices/password-notice.tsx';
import { QuotaNotice } from './notices/quota-notice.tsx';
import { SaveStatus } from './notices/save-status.tsx';
import { useSessionEnd } from './session/use-session-end.ts';
import { useSignOut } from './session/use-sign-out.ts';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts/use-shortcuts.ts';
import { useTypedAhead } from './shortcuts/use-typed-ahead.ts';

const CommandPalette = lazyComponent(() => import('./shortcuts/command-palette.tsx'), true);
const NarrowMenu = lazyComponent(() => import('./navigation/narrow-menu.tsx'), true);
const ShortcutsDialog = lazyComponent(() => import('./shortcuts/shortcuts-dialog.tsx'), true);
const SessionExpiredDialog = lazyComponent(
  () => import('./session/session-expired-dialog.tsx'),
  true,
);

/** The application shell: navigation, command palette and shortcuts around every page. */
export function Shell() {
  const me = useMe();
  const { pathname } = useLocation();
  // Loaded on first use.
  const [menu, setMenu] = useState<'unused' | 'open' | 'closed'>('unused');
  const closeMenu = useCallback(() => setMenu((now) => (now === 'unused' ? now : 'closed')), []);
  // The counter reopens a dialog that is already mounted.
  const [paletteRequests, setPaletteRequests] = useState(0);
  const [shortcutsRequests, setShortcutsRequests] = useState(0);
  const openPalette = () => setPaletteRequests((count) => count + 1);
  const openShortcuts = () => setShortcutsRequests((count) => count + 1);
  const signOut = useSignOut();
  const [expired, resume] = useSessionEnd();
  useShortcuts({ openPalette, openShortcuts });
  useTypedAhead(paletteRequests);
  // Close the menu after navigation.
  useEffect(closeMenu, [pathname, closeMenu]);
  const menuHandlers = { onShortcuts: openShortcuts, onSignOut: () => signOut.mutate() };
  const navigation = <Navigation me={me} onSearch={openPalette} {...menuHandlers} />;
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#page">
        Skip to content
      </a>
      <section className={classes.bar} aria-label="Top">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Open menu"
          onClick={() => setMenu('open')}
        >
          <Icon name="menu" size={18} />
        </ActionIcon>
        <span className={classes.barName} dir="auto">
          {workspaceName(me)}
        </span>
        <ActionIcon variant="subtle" color="gray" aria-label="Search" onClick={openPalette}>
          <Icon name="search" size={18} />
        </ActionIcon>
      </section>
      <aside className={classes.side}>{navigation}</aside>
      <main id="page" className={classes.page} tabIndex={-1}>
        <ConnectionNotice />
        <QuotaNotice />
        <PasswordNotice />
        <EndpointNotice />
        <Outlet />
      </main>
      <Suspense>
        {paletteRequests > 0 && (
          <CommandPalette
            openRequests={paletteRequests}
            me={me}
            onClose={() => setPaletteRequests(0)}
            {...menuHandlers}
          />
        )}
        {shortcutsRequests > 0 && (
          <ShortcutsDialog
            openRequests={shortcutsRequests}
            onClose={() => setShortcutsRequests(0)}
          />
        )}
        {menu !== 'unused' && (
          <NarrowMenu opened={menu === 'open'} onClose={closeMenu}>
            {navigation}
          </NarrowMenu>
        )}
        {expired && <SessionExpiredDialog me={me} onDone={resume} />}
      </Suspense>
      <SaveStatus />
      <Modal opened={signOut.isError} onClose={signOut.reset} title="You are still signed in">
        <ErrorState error={signOut.error} onRetry={() => signOut.mutate()} />
      </Modal>
    </div>
  );
}

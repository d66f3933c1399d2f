import { Kbd, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Me } from '../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { serverPath } from '../../data/client/base-path.ts';
import { commandKey } from '../shortcuts/command-key.ts';
import { AccountButton } from './account-button.tsx';
import classes from './navigation.module.css';
import { navigationItems } from './navigation-items.ts';
import { WorkspaceSwitcher } from './workspace-switcher.tsx';

export function Navigation(props: {
  readonly me: Me;
  readonly onSearch: () => void;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  return (
    <div className={classes.column}>
      <WorkspaceSwitcher me={props.me} />
      <UnstyledButton className={classes.search} onClick={props.onSearch}>
        <Icon name="search" size={14} />
        <span>Search</span>
        <Kbd size="xs">{commandKey} K</Kbd>
      </UnstyledButton>
      <nav aria-label="Main" className={classes.items}>
        {navigationItems.map(({ to, label, icon }) => (
          <Link
            key={to}
            to={to}
            className={classes.item}
            activeOptions={{ exact: to === '/', includeSearch: false }}
          >
            <Icon name={icon} />
            {label}
          </Link>
        ))}
      </nav>
      <div className={classes.foot}>
        <a className={classes.item} href={serverPath('/docs')} target="_blank" rel="noreferrer">
          <Icon name="reference" />
          API reference
        </a>
        <AccountButton me={props.me} onShortcuts={props.onShortcuts} onSignOut={props.onSignOut} />
      </div>
    </div>
  );
}

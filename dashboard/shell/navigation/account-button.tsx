import { UnstyledButton } from '@mantine/core';
import type { Me } from '../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { LoadedOnPress } from '../../components/loading/loaded-on-press.tsx';
import classes from './navigation.module.css';

const AccountMenu = lazyComponent(() => import('./account-menu.tsx'), true);

export function AccountButton(props: {
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const { user } = props.me;
  const button = (
    <UnstyledButton className={`${classes.item} ${classes.account}`} aria-haspopup="menu">
      <Icon name="person" />
      <span>{user.name || user.email}</span>
    </UnstyledButton>
  );
  return (
    <LoadedOnPress button={button}>
      {(popup) => <AccountMenu {...props} {...popup} />}
    </LoadedOnPress>
  );
}

import { UnstyledButton } from '@mantine/core';
import type { Me } from '../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { LoadedOnPress } from '../../components/loading/loaded-on-press.tsx';
import { workspaceName } from '../../data/workspace/me.ts';
import { Logo } from '../logo.tsx';
import classes from './navigation.module.css';

const WorkspaceMenu = lazyComponent(() => import('./workspace-menu.tsx'), true);

/** The workspace name; a menu for members of several workspaces. */
export function WorkspaceSwitcher({ me }: { readonly me: Me }) {
  const name = (
    <>
      <Logo />
      <span dir="auto">{workspaceName(me)}</span>
    </>
  );
  if (me.workspaces.length < 2) return <div className={classes.workspace}>{name}</div>;
  const button = (
    <UnstyledButton
      className={classes.workspace}
      aria-label={`Workspace ${workspaceName(me)}`}
      aria-haspopup="menu"
    >
      {name}
      <Icon name="down" size={12} />
    </UnstyledButton>
  );
  return (
    <LoadedOnPress button={button}>{(popup) => <WorkspaceMenu me={me} {...popup} />}</LoadedOnPress>
  );
}

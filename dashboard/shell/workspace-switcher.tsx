import { Menu, UnstyledButton } from '@mantine/core';
import type { Me } from '../../src/client/index.ts';
import { Icon } from '../components/icon.tsx';
import { serverPath } from '../data/client/base-path.ts';
import { chooseWorkspace } from '../data/client/client.ts';
import { workspaceName } from '../data/workspace/me.ts';
import { Logo } from './logo.tsx';
import classes from './navigation.module.css';

/** The workspace name; a menu for members of several workspaces. */
export function WorkspaceSwitcher({ me }: { readonly me: Me }) {
  const name = (
    <>
      <Logo />
      <span>{workspaceName(me)}</span>
    </>
  );
  if (me.workspaces.length < 2) return <div className={classes.workspace}>{name}</div>;
  const choose = (workspaceId: string) => {
    chooseWorkspace(workspaceId);
    location.assign(serverPath('/'));
  };
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.workspace} aria-label={`Workspace ${workspaceName(me)}`}>
          {name}
          <Icon name="down" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {me.workspaces.map((one) => (
          <Menu.Item
            key={one.workspaceId}
            onClick={() => choose(one.workspaceId)}
            rightSection={one.workspaceId === me.workspaceId && <Icon name="check" size={14} />}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

import { Menu } from '@mantine/core';
import type { Me } from '../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { type PopupProps, PopupTarget } from '../../components/loading/loaded-on-press.tsx';
import { serverPath } from '../../data/client/base-path.ts';
import { chooseWorkspace } from '../../data/client/client.ts';

/** The workspaces of a member of several. */
export default function WorkspaceMenu({ button, me, ...popup }: PopupProps & { readonly me: Me }) {
  const choose = (workspaceId: string) => {
    chooseWorkspace(workspaceId);
    location.assign(serverPath('/'));
  };
  return (
    <Menu {...popup} position="bottom-start" width={240}>
      <Menu.Target>
        <PopupTarget button={button} />
      </Menu.Target>
      <Menu.Dropdown>
        {me.workspaces.map((one) => (
          <Menu.Item
            key={one.workspaceId}
            onClick={() => choose(one.workspaceId)}
            rightSection={one.workspaceId === me.workspaceId && <Icon name="check" size={14} />}
          >
            <bdi>{one.name}</bdi>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

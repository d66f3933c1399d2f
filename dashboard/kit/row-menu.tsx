import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../components/icon.tsx';

/** An action, or nothing where it is not possible. `bad` is the colour of what destroys. */
type MenuAction = readonly [label: string, onClick: () => void, tone?: 'bad'] | false;

interface MenuProps {
  readonly actions: readonly MenuAction[];
  /** Other entries, such as links. */
  readonly children?: ReactNode;
}

/** The actions of a table row. */
export function RowMenu({ name, ...menu }: MenuProps & { readonly name: string }) {
  return (
    <Menu width="max-content">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          size={24}
          color="gray"
          c="var(--text)"
          aria-label={`Actions for ${name}`}
        >
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Actions {...menu} />
    </Menu>
  );
}

/** The actions of a page, in its header. */
export function ActionMenu({ label, ...menu }: MenuProps & { readonly label: string }) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size="input-sm" aria-label={label}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Actions {...menu} />
    </Menu>
  );
}

function Actions({ actions, children }: MenuProps) {
  return (
    <Menu.Dropdown>
      {actions.map(
        (action) =>
          action && (
            <Menu.Item
              key={action[0]}
              {...(action[2] && { color: 'var(--bad)' })}
              onClick={action[1]}
            >
              {action[0]}
            </Menu.Item>
          ),
      )}
      {children}
    </Menu.Dropdown>
  );
}

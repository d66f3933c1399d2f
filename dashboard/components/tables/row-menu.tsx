import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';

/** Actions of a table row, as `Menu.Item`s. */
export function RowMenu(props: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Menu width="max-content">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          size={24}
          color="gray"
          c="var(--text)"
          aria-label={`Actions for ${props.name}`}
        >
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{props.children}</Menu.Dropdown>
    </Menu>
  );
}

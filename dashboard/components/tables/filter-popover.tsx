import { Popover } from '@mantine/core';
import type { ReactNode } from 'react';

/** Opens an editor of a filter below its button. The editor has a fixed width: nothing moves while lists load. */
export function FilterPopover(props: {
  readonly label: string;
  readonly width: number;
  readonly opened: boolean;
  readonly onChange: (opened: boolean) => void;
  /** The button. */
  readonly target: ReactNode;
  readonly children: ReactNode;
}) {
  const { label, width, opened, onChange, target, children } = props;
  return (
    <Popover
      opened={opened}
      onChange={onChange}
      position="bottom-start"
      width={width}
      trapFocus
      returnFocus
    >
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label} p="xs">
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}

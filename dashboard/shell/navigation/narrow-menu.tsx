import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useReturnFocus } from '../../components/hooks/use-return-focus.ts';

/** The navigation on a narrow screen. */
export default function NarrowMenu({
  children,
  ...props
}: {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    // `ReturnFocus` does it: Mantine would take the focus from the heading of the next page.
    <Drawer {...props} title="Cueline" size="17rem" padding="sm" returnFocus={false}>
      <ReturnFocus />
      {children}
    </Drawer>
  );
}

/** Mounted while the drawer is visible. */
function ReturnFocus() {
  useReturnFocus(null);
  return null;
}

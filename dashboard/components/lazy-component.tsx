import { Modal } from '@mantine/core';
import { Component, type ComponentType, lazy, type ReactNode } from 'react';
import { PartMissing, reloadAfterUpgrade, reloadIfServed } from '../data/client/upgrade.ts';
import { ErrorState } from './error-state.tsx';

/** Who closes the dialog in place of a part that is one. */
interface Closable {
  readonly onClose?: () => void;
}

/**
 * A part of a page that is fetched when it is first shown. Where that fails only the part does, and not the page that it
 * stands in, as with React's `lazy` alone.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  isDialog = false,
): ComponentType<Props & Closable> {
  const Part = lazy(() => load().catch(reloadAfterUpgrade)) as ComponentType<Props>;
  return function LazyPart(props: Props & Closable) {
    return (
      <Boundary isDialog={isDialog} onClose={props.onClose}>
        <Part {...props} />
      </Boundary>
    );
  };
}

interface BoundaryProps {
  readonly isDialog: boolean;
  readonly onClose: (() => void) | undefined;
  readonly children: ReactNode;
}

class Boundary extends Component<BoundaryProps, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    const { children, isDialog, onClose } = this.props;
    if (error === null) return children;
    // What is wrong with the part itself is the page's to show.
    if (!(error instanceof PartMissing)) throw error;
    const failed = <ErrorState error={error} onRetry={() => void reloadIfServed()} />;
    if (!isDialog) return failed;
    return (
      <Modal opened onClose={() => onClose?.()} title="It could not be opened">
        {failed}
      </Modal>
    );
  }
}

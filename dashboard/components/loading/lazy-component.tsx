import { Component, type ComponentType, lazy, type ReactNode } from 'react';
import {
  ComponentLoadError,
  reloadAfterUpgrade,
  reloadIfServed,
} from '../../data/client/upgrade.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorState } from '../states/error-state.tsx';

/** Closes the error dialog that replaces a dialog component. */
interface Closable {
  readonly onClose?: () => void;
}

/**
 * A component loaded on first use. If loading fails, only this component shows the error, not the whole page as with
 * React's `lazy` alone.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  isDialog = false,
): ComponentType<Props & Closable> {
  const Part = lazy(() => load().catch(reloadAfterUpgrade)) as ComponentType<Props>;
  return function LazyComponent(props: Props & Closable) {
    return (
      <LoadErrorBoundary isDialog={isDialog} onClose={props.onClose}>
        <Part {...props} />
      </LoadErrorBoundary>
    );
  };
}

interface BoundaryProps {
  readonly isDialog: boolean;
  readonly onClose: (() => void) | undefined;
  readonly children: ReactNode;
}

class LoadErrorBoundary extends Component<BoundaryProps, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    const { children, isDialog, onClose } = this.props;
    if (error === null) return children;
    // Errors of the component itself go to the page's error boundary.
    if (!(error instanceof ComponentLoadError)) throw error;
    const failed = <ErrorState error={error} onRetry={() => void reloadIfServed()} />;
    if (!isDialog) return failed;
    return (
      <Dialog title="Could not open" onClose={() => onClose?.()}>
        {failed}
      </Dialog>
    );
  }
}

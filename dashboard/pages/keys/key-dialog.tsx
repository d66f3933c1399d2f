import { Suspense } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { RotateKey } from './rotate-key.tsx';

const IssueKeyForm = lazyComponent(() => import('./issue-key-form.tsx'), true);

/** The key to rotate, or a new key. */
export type KeyDialogState = ApiKey | 'new';

/**
 * Rendered outside the list: creating or rotating a key refetches the list, and a dialog inside a row or the empty
 * state would unmount with the secret.
 */
export function KeyDialog(props: {
  readonly dialog: KeyDialogState | null;
  /** Preselected agent of a new key. */
  readonly agentId?: string;
  readonly onClose: () => void;
}) {
  const { dialog, agentId, onClose } = props;
  if (dialog === null) return null;
  if (dialog !== 'new') {
    return <RotateKey apiKey={dialog} onClose={onClose} />;
  }
  return (
    <Suspense>
      <IssueKeyForm agentId={agentId} onClose={onClose} />
    </Suspense>
  );
}

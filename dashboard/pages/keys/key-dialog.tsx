import { Suspense } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { lazyPart } from '../../components/lazy-component.tsx';
import { RotateKey } from './rotate-key.tsx';

const IssueKeyForm = lazyPart(() => import('./issue-key-form.tsx'), true);

/** The key to rotate, or a new key. */
export type KeyAsked = ApiKey | 'issue';

/**
 * Rendered outside the list: creating or rotating a key refetches the list, and a dialog inside a row or the empty
 * state would unmount with the secret.
 */
export function KeyDialog(props: {
  readonly asked: KeyAsked | null;
  /** Preselected agent of a new key. */
  readonly agentId?: string;
  readonly onClose: () => void;
}) {
  const { asked, agentId, onClose } = props;
  if (asked === null) return null;
  if (asked !== 'issue') return <RotateKey apiKey={asked} onClose={onClose} />;
  return (
    <Suspense>
      <IssueKeyForm agentId={agentId} onClose={onClose} />
    </Suspense>
  );
}

import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { versionQuery } from '../../data/prompts/prompts.ts';
import { ErrorState } from '../states/error-state.tsx';
import { TemplateDiff } from './template-diff.tsx';

/** Reads two versions of a prompt and shows their differences. */
export function VersionDiff(props: {
  readonly promptId: string;
  readonly before: string;
  readonly after: string;
  /** Tells its parts from those of another comparison on the page. */
  readonly purpose?: string;
}) {
  const { promptId, purpose } = props;
  const before = useQuery(versionQuery(promptId, props.before));
  const after = useQuery(versionQuery(promptId, props.after));
  const error = before.error ?? after.error;
  if (error) return <ErrorState error={error} />;
  if (!before.data || !after.data) return <Skeleton height={200} />;
  return <TemplateDiff before={before.data} after={after.data} {...(purpose && { purpose })} />;
}

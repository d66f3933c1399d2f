import { Link } from '@tanstack/react-router';
import type { Prompt } from '../../../src/client/index.ts';
import classes from './editor.module.css';

/** Warns that another version was saved after this draft began: saving would omit its changes. */
export function NewerVersionNotice(props: {
  readonly prompt: Prompt;
  readonly baseId: string | null;
}) {
  const { prompt, baseId } = props;
  const latest = prompt.latestVersion;
  if (!latest || latest.promptVersionId === baseId) return null;
  const compared = { after: latest.promptVersionId, ...(baseId !== null && { before: baseId }) };
  return (
    <p className={classes.later} role="status">
      The latest version is “{latest.promptVersionLabel}”. This draft is not based on it.{' '}
      <Link
        to="/prompts/$promptId/versions"
        params={{ promptId: prompt.promptId }}
        search={compared}
      >
        View changes
      </Link>
    </p>
  );
}

import { getRouteApi } from '@tanstack/react-router';
import { Schedules } from './triggers/schedules.tsx';
import { Webhooks } from './triggers/webhooks.tsx';
import classes from './workflow.module.css';

const route = getRouteApi('/app/workflows/$workflowId/triggers');

/** Schedules and webhooks that start the workflow. */
export function TriggersPage() {
  const { workflowId } = route.useParams();
  return (
    <div className={classes.page}>
      <Schedules workflowId={workflowId} />
      <Webhooks workflowId={workflowId} />
    </div>
  );
}

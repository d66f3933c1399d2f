import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const alerts = resource('alerts', 'Alert', cueline.alerts);

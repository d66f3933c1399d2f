import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const endpoints = resource('endpoints', 'Endpoint', cueline.endpoints);

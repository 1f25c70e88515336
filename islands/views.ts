import type { z } from "zod";
import type {
  deliveryPageSchema,
  deliverySchema,
  jobSchema,
  laneSchema,
  statusSchema,
} from "../routes/operator/schemas.ts";
import type { Series } from "../lib/store/series.ts";

/** What the API answers, and so what islands show. */
export type StatusView = z.output<typeof statusSchema>;
export type LaneView = z.output<typeof laneSchema>;
export type DeliveryView = z.output<typeof deliverySchema>;
export type DeliveryPageView = z.output<typeof deliveryPageSchema>;
export type JobView = z.output<typeof jobSchema>;
export type SeriesView = Series;

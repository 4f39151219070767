"""The metrics APIs that a HorizontalPodAutoscaler asks, as an aggregated API server speaks them.

`values` are the lists of external.metrics.k8s.io/v1beta1 and custom.metrics.k8s.io/v1beta2, `discovery` what
says that they are there, `status` how a request is refused. Only JSON is written: clients that would rather
have protobuf take it, too.
"""

from springtide.wire.metrics_api.discovery import (
    AGGREGATED_TYPE,
    Group,
    Resource,
    api_group,
    api_group_list,
    discovery_list,
    openapi_v2,
    openapi_v3_index,
    resource_list,
    wants_aggregated,
)
from springtide.wire.metrics_api.status import Status, status
from springtide.wire.metrics_api.values import (
    CUSTOM,
    EXTERNAL,
    ExternalMetricValueList,
    MetricValueList,
    Subject,
    custom_list,
    external_list,
    external_list_of_none,
    quantity_text,
)

__all__ = [
    "AGGREGATED_TYPE",
    "CUSTOM",
    "EXTERNAL",
    "ExternalMetricValueList",
    "Group",
    "MetricValueList",
    "Resource",
    "Status",
    "Subject",
    "api_group",
    "api_group_list",
    "custom_list",
    "discovery_list",
    "external_list",
    "external_list_of_none",
    "openapi_v2",
    "openapi_v3_index",
    "quantity_text",
    "resource_list",
    "status",
    "wants_aggregated",
]

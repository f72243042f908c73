// Visibility of the public API: everything is hidden unless it is marked.
#pragma once

#define PRECAST_EXPORT [[gnu::visibility("default")]]
